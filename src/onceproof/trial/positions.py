"""Where the suspect's own records say it is; it declares where those are kept."""

import json

from onceproof.cluster import topics
from onceproof.cluster.rawlog import read_record
from onceproof.offsets.read import last_committed
from onceproof.suspects.position import checkpoint_position
from onceproof.suspects.suspect import PositionHome
from onceproof.trial.stage import Stage

Position = dict[int, int]  # next input offset by partition


def position_of(stage: Stage) -> Position | None:
    """None: there is none yet."""
    home = stage.plan.suspect.position
    if home is PositionHome.SPARK_CHECKPOINT:
        return checkpoint_position(stage.state_dir / "checkpoint", stage.input_topic)
    if stage.table is not None:
        return stage.table.position()
    if home is PositionHome.OWN_TOPIC:
        return _own_position(stage)
    return topics.committed_offsets(stage.client, stage.app_id, stage.input_topic) or None


def _own_position(stage: Stage) -> Position | None:
    """What its last committed record says; one whose transaction is open does not count."""
    topic = f"{stage.app_id}-offsets"
    position = {}
    for partition, offset in last_committed(stage.client, topic).items():
        record = read_record(stage.client, topic, partition, offset)
        if record is not None and record.value is not None:
            position[partition] = int(json.loads(record.value)["next"])
    return position or None
