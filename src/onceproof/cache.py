"""Where onceproof keeps what is dear to get again. Everything in it may be deleted at any time."""

import os
from pathlib import Path

CACHE_VARIABLE = "ONCEPROOF_CACHE"


def cache_directory(name: str) -> Path:
    """`$ONCEPROOF_CACHE/name`, or `name` under the user's own cache; not made here."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute() / name
    user_cache = os.environ.get("XDG_CACHE_HOME")
    root = Path(user_cache) if user_cache else Path.home() / ".cache"
    return root / "onceproof" / name
