"""A .properties file as Kafka's tools take it, for the client we ask with."""

from pathlib import Path

import pytest

from onceproof.cluster.command_config import read_properties, security_of
from onceproof.errors import UsageError


def written(folder: Path, text: str) -> Path:
    path = folder / "client.properties"
    path.write_text(text)
    return path


def test_without_a_file_nothing_is_set() -> None:
    assert security_of(None) == {}


def test_javas_names_become_those_of_our_client(tmp_path: Path) -> None:
    config = written(
        tmp_path,
        "! a comment\n\nsecurity.protocol = SASL_SSL\nsasl.mechanism: PLAIN\n"
        "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\\n"
        '    username="u" password="p\\=q\\u00e9";\n'
        "ssl.endpoint.identification.algorithm=\nmax.poll.interval.ms=5\n",
    )
    assert security_of(config) == {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": "u",
        "sasl_plain_password": "p=q\u00e9",
        "ssl_check_hostname": False,
    }


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("nonsense\n", "a line of it is no `name=value`"),
        ("security.protocol=SSL\nhush\n", "a line of it is no `name=value`"),
        ("sasl.password=hush\\u12\n", r"sasl.password has a \\u without its four digits"),
        ("sasl.mechanism=AWS_MSK_IAM\n", "AWS MSK IAM needs a Java class"),
        ("security.protocol=SSL\nssl.crl.location=/x\n", "ssl.crl.location is not known here"),
    ],
)
def test_what_cannot_be_used_is_told(text: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=told) as error:
        security_of(written(tmp_path, text))
    assert "\n" not in str(error.value)
    assert "hush" not in str(error.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--client-config .* cannot be read: No such file"):
        read_properties(tmp_path / "none", "--client-config")
