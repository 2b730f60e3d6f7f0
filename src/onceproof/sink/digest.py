"""A digest of a lane's rows that does not depend on their order.

Shuffle fetch order differs between attempts, so the rows of a replay come in another order. Spark
hashes each row twice with XXH64 (see cut.py), and the hashes are added up modulo 2^64 each: 128
bits, where equal multisets of rows give equal sums, and a repeated row counts (an XOR would hide
it). It is to notice a query that is not deterministic, not to stand against an attacker.
"""

from typing import Any

_MODULUS = 1 << 64


class RowsDigest:
    def __init__(self) -> None:
        self._sums = [0, 0]
        self.rows = 0

    def add(self, first: Any, second: Any) -> None:
        """The two hashes of each of some rows, as numpy arrays of 64-bit integers."""
        import numpy  # late: an executor that lacks it must get far enough to say so

        for place, hashes in enumerate((first, second)):
            # numpy adds unsigned integers modulo 2^64 by itself.
            total = int(hashes.view(numpy.uint64).sum(dtype=numpy.uint64))
            self._sums[place] = (self._sums[place] + total) % _MODULUS
        self.rows += len(first)

    def hex(self) -> str:
        return "".join(f"{total:016x}" for total in self._sums)


NOTHING = RowsDigest().hex()
