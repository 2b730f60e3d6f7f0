"""A digest of a lane's rows that does not depend on their order.

Shuffle fetch order differs between attempts, so the rows of a replay come in another order. Each
row is hashed over its length-prefixed fields, and the hashes are added up modulo 2^128: equal
multisets of rows give equal sums, and a repeated row counts (an XOR would hide it).
"""

import hashlib
from collections.abc import Sequence

WIDTH_BYTES = 16
_MODULUS = 1 << (8 * WIDTH_BYTES)
_ABSENT = b"\xff\xff\xff\xff"


class RowsDigest:
    def __init__(self) -> None:
        self._sum = 0
        self.rows = 0

    def add(
        self,
        topic: str,
        partition: int | None,
        key: bytes | None,
        value: bytes | None,
        headers: Sequence[tuple[str, bytes | None]] | None,
    ) -> None:
        hasher = hashlib.blake2b(digest_size=WIDTH_BYTES)
        place = None if partition is None else partition.to_bytes(4, "big")
        for field in (topic.encode(), place, key, value):
            hasher.update(_framed(field))
        for name, content in headers or ():
            hasher.update(_framed(name.encode()) + _framed(content))
        self._sum = (self._sum + int.from_bytes(hasher.digest(), "big")) % _MODULUS
        self.rows += 1

    def hex(self) -> str:
        return self._sum.to_bytes(WIDTH_BYTES, "big").hex()


def _framed(field: bytes | None) -> bytes:
    """Length first, so that ("ab", "c") and ("a", "bc") differ; absent is not empty."""
    return _ABSENT if field is None else len(field).to_bytes(4, "big") + field
