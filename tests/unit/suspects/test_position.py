"""A Spark query's position counts only once its batch is committed."""

from pathlib import Path

from onceproof.suspects.position import checkpoint_position


def write_batch(checkpoint: Path, number: int, offsets: str, *, committed: bool) -> None:
    for folder in ("offsets", "commits"):
        (checkpoint / folder).mkdir(parents=True, exist_ok=True)
    (checkpoint / "offsets" / str(number)).write_text(f'v1\n{{"conf":{{}}}}\n{offsets}')
    if committed:
        (checkpoint / "commits" / str(number)).write_text('v1\n{"nextBatchWatermarkMs":0}')


def test_there_is_no_position_before_the_first_commit(tmp_path: Path) -> None:
    assert checkpoint_position(tmp_path, "in") is None
    write_batch(tmp_path, 0, '{"in":{"0":5}}', committed=False)
    assert checkpoint_position(tmp_path, "in") is None


def test_the_position_is_that_of_the_last_committed_batch(tmp_path: Path) -> None:
    write_batch(tmp_path, 9, '{"in":{"0":5,"1":7}}', committed=True)
    write_batch(tmp_path, 10, '{"in":{"0":8,"1":9}}', committed=True)
    write_batch(tmp_path, 11, '{"in":{"0":9,"1":9}}', committed=False)
    (tmp_path / "commits" / ".11.tmp.crc").write_text("half a file")
    assert checkpoint_position(tmp_path, "in") == {0: 8, 1: 9}
