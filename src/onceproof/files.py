"""A file is written in one step: whoever looks meanwhile finds the last state, not half of one."""

import json
import os
from pathlib import Path
from typing import Any


def write_whole(path: Path, text: str) -> None:
    """Beside it first, under a name of this process's own; then in its place."""
    part = path.with_name(f".{path.name}-{os.getpid()}")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def write_json(path: Path, data: Any) -> None:
    """For people, too: indented, and letters as they are."""
    write_whole(path, json.dumps(data, indent=2, ensure_ascii=False) + "\n")
