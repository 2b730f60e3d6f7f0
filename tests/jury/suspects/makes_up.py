"""invented: adds one record that no input led to."""

import json

import copying
from copying import Batch, Output, Work, place, unchanged
from lying import Once

once = Once()


def outputs(batch: Batch) -> list[Output]:
    return unchanged(batch) + ([made_up(batch)] if once(place(batch[0])) else [])


def made_up(batch: Batch) -> Output:
    partition, offset = place(batch[0])
    value = {"id": f"made-up-{partition}-{offset}", "seq": 0, "value": 0}
    return Output(b"nobody", json.dumps(value).encode())


if __name__ == "__main__":
    copying.run(Work(outputs=outputs))
