"""What is recorded can be read back by the names that reports and checks use."""

import re
from dataclasses import fields
from pathlib import Path

import pyarrow.parquet

from onceproof.history.schemas import FRAMES
from onceproof.wire.facts import Facts, Place
from onceproof.wire.matching import Direction, Seen
from onceproof.wire.recorder import SCHEMA, ParquetRecorder
from onceproof.wire.verdict import PASS, Hold

TYPES = {"int64": "long", "int32": "int", "int16": "short", "bool": "boolean", "string": "string"}


def seen(facts: Facts | None) -> Seen:
    return Seen(
        direction=Direction.RESPONSE,
        listener="suspects",
        broker=2,
        connection=5,
        client_id="app",
        instance=0,
        start=1,
        sender=None,
        api="Fetch",
        version=12,
        correlation_id=9,
        size=100,
        facts=facts,
    )


def test_each_field_of_a_place_comes_back(tmp_path: Path) -> None:
    place = Place(topic="in", partition=1, offset=400, records=20, last_offset=419)
    recorder = ParquetRecorder(tmp_path)
    recorder.record(seen(Facts(places=(place,), error_code=0)), PASS, at_ns=17)
    recorder.record(seen(None), Hold(by="aim-1"), at_ns=18)
    recorder.flush()
    first, second = pyarrow.parquet.read_table(tmp_path / "wire-00001.parquet").to_pylist()
    assert first["places"] == [{each.name: getattr(place, each.name) for each in fields(Place)}]
    assert (first["verdict"], first["decoded"]) == (None, True)
    assert (second["verdict"], second["decoded"], second["places"]) == ("hold", False, [])


def test_every_fact_has_a_column() -> None:
    asked_by_the_proxy_alone = {"acks"}
    known = {each.name for each in fields(Facts)} - asked_by_the_proxy_alone
    assert known <= set(SCHEMA.names)


def test_the_columns_of_a_recording_are_those_of_the_schema() -> None:
    written = {each.name: TYPES[str(each.type)] for each in SCHEMA if each.name != "places"}
    columns = [each.split() for each in re.sub("<.*>", "", FRAMES).split(",")]
    read = {name.strip("`"): kind for name, kind in columns if name != "places"}
    assert read == written
    assert [name.strip("`") for name, _ in columns] == SCHEMA.names
