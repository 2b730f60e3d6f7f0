"""Results go to standard output, everything else to standard error: `--json` can be piped."""

import json
import sys
from typing import Any


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def say_json(data: Any) -> None:
    say(json.dumps(data, indent=2, ensure_ascii=False))


def say_error(text: str) -> None:
    sys.stderr.write(text.rstrip("\n") + "\n")
    sys.stderr.flush()
