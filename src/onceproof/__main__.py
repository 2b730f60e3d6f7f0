"""`python -m onceproof`: the same as the command `onceproof`."""

import sys

from onceproof.cli.main import command

if __name__ == "__main__":
    sys.exit(command())
