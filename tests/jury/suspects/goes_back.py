"""regressed: of one key it writes the state after 4 records, then the one after 3, then 5.

Each state is right and is written once; only their order is not.
"""

import folding
from folding import Row
from lying import Once

once = Once()
held_back: list[Row] = []


def tell(rows: list[Row]) -> list[Row]:
    told = []
    for row in rows:
        if row.value["count"] == 3 and once(row.key):
            held_back[:] = [row]
            continue
        told.append(row)
        if row.value["count"] == 4 and once(row.key):
            told.extend(held_back)
    return told


if __name__ == "__main__":
    folding.run(folding.FOLD, tell)
