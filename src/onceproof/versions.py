"""Versions as numbers: 3.9.1 comes before 3.10.0, and 10.0 after 4."""

import re


def by_version(version: str) -> tuple[int, ...]:
    """To compare versions, and to put them in order."""
    return tuple(int(part) for part in re.findall(r"\d+", version))
