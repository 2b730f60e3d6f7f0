"""duplicated: commits the rows, and then the token in a transaction of its own.

Killed between the two: nothing tells the replay that the rows are there.
"""

import choreography

from onceproof.sink import lane
from onceproof.sink.lane import OpenLane
from onceproof.sink.producing.transaction import Record
from onceproof.sink.rows import LaneRows
from onceproof.sink.work import Work

real_token = lane._token


def token_at_the_moment(number: int, work: Work, rows: LaneRows) -> Record:
    """The rows have been produced, their token has not."""
    if choreography.is_the_moment(work):
        choreography.stand_still()
    return real_token(number, work, rows)


def write_rows_then_token(opened: OpenLane, work: Work, rows: LaneRows) -> tuple[float, float]:
    transaction = opened.transaction
    transaction.begin()
    for batch in rows:
        transaction.produce_rows(batch, work.settings.topic)
    transaction.commit()
    transaction.begin()
    transaction.produce_record(lane._token(opened.lane, work, rows))
    transaction.commit()
    return 0.0, 0.0


if __name__ == "__main__":
    lane._token = token_at_the_moment
    if not choreography.HONEST:
        lane._write = write_rows_then_token
    choreography.run()
