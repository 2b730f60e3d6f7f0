"""diverged: writes one record twice, the second time with another value."""

import json

import copying
from copying import Batch, Output, Work, place, unchanged
from lying import Once

once = Once()


def outputs(batch: Batch) -> list[Output]:
    rows = []
    for message, row in zip(batch, unchanged(batch), strict=True):
        rows.append(row)
        if once(place(message)):
            rows.append(changed(row))
    return rows


def changed(row: Output) -> Output:
    value = json.loads(row.value)
    return row._replace(value=json.dumps(value | {"value": value["value"] + 1}).encode())


if __name__ == "__main__":
    copying.run(Work(outputs=outputs))
