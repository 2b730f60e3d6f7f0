"""`python -m onceproof`: the same as the command `onceproof`."""

import sys

from onceproof.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
