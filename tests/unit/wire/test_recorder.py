"""What the proxy writes is what the checks read."""

import re

from onceproof.history.schemas import FRAMES
from onceproof.wire.recorder import SCHEMA

TYPES = {"int64": "long", "int32": "int", "int16": "short", "bool": "boolean", "string": "string"}


def test_the_columns_of_a_recording_are_those_of_the_schema() -> None:
    written = {each.name: TYPES[str(each.type)] for each in SCHEMA if each.name != "places"}
    columns = [each.split() for each in re.sub("<.*>", "", FRAMES).split(",")]
    read = {name.strip("`"): kind for name, kind in columns if name != "places"}
    assert read == written
    assert [name.strip("`") for name, _ in columns] == SCHEMA.names
