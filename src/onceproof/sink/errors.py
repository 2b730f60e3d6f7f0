"""Why the sink stopped. It never logs and goes on: that would be data loss.

SinkError
├── OwnershipError   another query, another checkpoint or a newer batch owns this sink
├── ReplayError      the replayed rows are not those that were committed: nothing more is written
├── RefusedError     the brokers will not take this, however often it is tried (too large, no such
│                    topic, not authorised, a transaction that outlasts its timeout twice)
└── LaneError        a lane could not be written; the batch may be tried again
    ├── OutlastedError   a transaction outlasted its timeout: tried again once
    ├── UncollectedError the rows of a small batch did not come to the driver, or not in time:
    │                    lanes try it then
    ├── CutOffError      Spark broke off a task's rows: what it has of them is not the lane
    ├── FencedError      somebody else has fenced the transaction: another attempt, or a successor
    └── SilentError      no broker has said anything of use: a new client may hear more
"""


class SinkError(Exception):
    pass


class OwnershipError(SinkError):
    pass


class ReplayError(SinkError):
    pass


class RefusedError(SinkError):
    pass


class LaneError(SinkError):
    pass


class OutlastedError(LaneError):
    pass


class UncollectedError(LaneError):
    pass


class CutOffError(LaneError):
    pass


class FencedError(LaneError):
    pass


class SilentError(LaneError):
    def __init__(self, told: SinkError) -> None:
        super().__init__(str(told))
        self.told = told  # if a new client hears nothing else, this is why
