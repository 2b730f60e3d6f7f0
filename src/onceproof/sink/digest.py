"""A digest of a lane's rows that does not depend on their order.

Shuffle fetch order differs between attempts, so the rows of a replay come in another order. Spark
hashes each row with XXH64 (see cut.py); the hashes are added up modulo 2^64, once as they are and
once mixed: 128 bits, where equal multisets of rows give equal sums, and a repeated row counts (an
XOR would hide it). It is to notice a query that is not deterministic, not to stand against an
attacker.
"""

from collections.abc import Iterable
from typing import Any

_MODULUS = 1 << 64
_DIGITS = 16  # of each sum


class RowsDigest:
    def __init__(self) -> None:
        self._sums = [0, 0]
        self.rows = 0

    def add(self, hashes: Any) -> None:
        """Of some rows, as a numpy array of 64-bit integers."""
        import numpy  # late: an executor that lacks it must get far enough to say so

        plain = hashes.view(numpy.uint64)
        # numpy reckons with unsigned integers modulo 2^64 by itself.
        for place, values in enumerate((plain, mixed(plain))):
            self._sums[place] = (self._sums[place] + int(values.sum(dtype="uint64"))) % _MODULUS
        self.rows += len(hashes)

    def hex(self) -> str:
        return _hex(self._sums)


def mixed(hashes: Any) -> Any:
    """Another hash of each: the last steps of SplitMix64. Digest.java has the same."""
    from numpy import uint64

    z = (hashes ^ (hashes >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> uint64(27))) * uint64(0x94D049BB133111EB)
    return z ^ (z >> uint64(31))


def digest_of_all(parts: Iterable[str]) -> str:
    """What rows come to whose parts came to these."""
    sums = [0, 0]
    for part in parts:
        for place, total in enumerate((part[:_DIGITS], part[_DIGITS:])):
            sums[place] = (sums[place] + int(total, 16)) % _MODULUS
    return _hex(sums)


def _hex(sums: Iterable[int]) -> str:
    return "".join(f"{total:0{_DIGITS}x}" for total in sums)


NOTHING = RowsDigest().hex()
