"""died: never gets as far as a client."""

import sys

if __name__ == "__main__":
    sys.stderr.write("no licence file found\n")
    sys.exit(3)
