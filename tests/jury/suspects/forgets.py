"""stale (workload last): finds an older state of one key than it had written, once."""

import folding
from folding import Row
from lying import Once

once = Once()


def tell(rows: list[Row]) -> list[Row]:
    return [forgetful(row) if has_a_past(row) and once(row.value["id"]) else row for row in rows]


def has_a_past(row: Row) -> bool:
    return bool(row.value["found"] >= 1)


def forgetful(row: Row) -> Row:
    return row._replace(value=row.value | {"found": row.value["found"] - 1})


if __name__ == "__main__":
    folding.run(folding.LAST, tell)
