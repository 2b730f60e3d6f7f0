"""wrong: states a max of one key that is too low, once. Later states are right; max never falls."""

import folding
from folding import Row
from lying import Once

once = Once()


def tell(rows: list[Row]) -> list[Row]:
    return [miscounted(row) if is_first_of_its_key(row) and once(row.key) else row for row in rows]


def is_first_of_its_key(row: Row) -> bool:
    # With nothing before it, a max that is too low cannot look like one that fell.
    return row.value["count"] == 1


def miscounted(row: Row) -> Row:
    return row._replace(value=row.value | {"max": row.value["max"] - 1})


if __name__ == "__main__":
    folding.run(folding.FOLD, tell)
