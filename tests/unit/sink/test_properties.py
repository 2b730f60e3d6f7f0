"""A client's .properties file, read as Java reads it."""

from pathlib import Path

import pytest

from onceproof.sink.errors import SinkError
from onceproof.sink.properties import read_properties

OPTION = "--command-config"


def read(folder: Path, text: str) -> dict[str, str]:
    path = folder / "client.properties"
    path.write_text(text, encoding="utf-8")
    return read_properties(path, OPTION)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("sasl.mechanism=PLAIN", "PLAIN"),
        ("sasl.mechanism = PLAIN", "PLAIN"),
        ("sasl.mechanism:PLAIN", "PLAIN"),
        ("  sasl.mechanism : PLAIN", "PLAIN"),
        ("sasl.mechanism PLAIN", "PLAIN"),
        ("sasl.mechanism\tPLAIN", "PLAIN"),
        ("sasl.mechanism==PLAIN", "=PLAIN"),
        ("sasl.mechanism=PLA\\\n    IN", "PLAIN"),
        ("sasl.mechanism=\\\n  PLA\\\n  IN", "PLAIN"),
        ("sasl.mechanism=PLA\\\n# IN", "PLA# IN"),  # a comment only where a line begins
        ("sasl.mechanism=PLAIN\\\\\nother=1", "PLAIN\\"),  # an even number of them
        ("sasl.mechanism=PLAIN  ", "PLAIN"),
        ("sasl\\.mech\\u0061nism=PL\\AIN", "PLAIN"),
        ("sasl.mechanism=a\\tb\\nc\\:d", "a\tb\nc:d"),
        ("sasl.mechanism=caf\u00e9", "caf\u00e9"),
        ("sasl.mechanism=first\nsasl.mechanism=last", "last"),
        ("sasl.mechanism=PLAIN\r\nother=1\r\n", "PLAIN"),
        ("sasl.mechanism", ""),
    ],
)
def test_each_way_to_write_a_setting(tmp_path: Path, text: str, value: str) -> None:
    assert read(tmp_path, text)["sasl.mechanism"] == value


def test_a_login_over_several_lines_is_one_setting(tmp_path: Path) -> None:
    text = """
# as in Kafka's own documentation
! and this
security.protocol=SASL_SSL
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\
  username="alice" \\
  password="a:b=c";
"""
    assert read(tmp_path, text) == {
        "security.protocol": "SASL_SSL",
        "sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule required"
        ' username="alice" password="a:b=c";',
    }


def test_a_separator_may_stand_in_a_name_if_it_is_escaped(tmp_path: Path) -> None:
    assert read(tmp_path, "a\\:b\\=c\\ d = e") == {"a:b=c d": "e"}


def test_what_is_no_character_is_told_without_its_value(tmp_path: Path) -> None:
    with pytest.raises(SinkError, match=r"client.properties.*sasl.password") as told:
        read(tmp_path, "sasl.password=hush\\u12")
    assert "hush" not in str(told.value)


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "store.jks").write_bytes(b"\xfe\xed\xfe\xed")
    with pytest.raises(SinkError, match=r"store.jks cannot be read: it is not UTF-8"):
        read_properties(tmp_path / "store.jks", OPTION)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SinkError, match=r"--command-config .*absent cannot be read: No such file"):
        read_properties(tmp_path / "absent", OPTION)
