"""python -m onceproof.suspects.consumers NAME: run one of them."""

import importlib
import sys

if __name__ == "__main__":
    sys.exit(importlib.import_module(f"onceproof.suspects.consumers.{sys.argv[1]}").main())
