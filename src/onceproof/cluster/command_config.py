"""A client's settings in a .properties file, as Kafka's own tools take them (`--command-config`).

    security.protocol, sasl.*, ssl.* (Java's names, or librdkafka's) ──▶ kafka-python's settings

No value of such a file is ever told: it may be a secret.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onceproof.errors import UsageError
from onceproof.sink import properties
from onceproof.sink.client import translate
from onceproof.sink.errors import SinkError

SECURITY = ("security.", "sasl.", "ssl.")
# librdkafka's names, and those of kafka-python for the same.
NAMES = {
    "security.protocol": "security_protocol",
    "sasl.mechanism": "sasl_mechanism",
    "sasl.username": "sasl_plain_username",
    "sasl.password": "sasl_plain_password",
    "ssl.ca.location": "ssl_cafile",
    "ssl.certificate.location": "ssl_certfile",
    "ssl.key.location": "ssl_keyfile",
    "ssl.key.password": "ssl_password",
}
HOSTNAME_CHECK = "ssl.endpoint.identification.algorithm"


def security_of(path: Path | None) -> dict[str, Any]:
    """For `BrokerClient`; nothing without a file."""
    if path is None:
        return {}
    given = read_properties(path, "--command-config")
    wanted = {f"kafka.{name}": text for name, text in given.items() if name.startswith(SECURITY)}
    try:
        return _for_kafka_python(translate(wanted), path)
    except SinkError as error:
        raise UsageError(f"--command-config {path}: {error}") from error


def _for_kafka_python(translated: Mapping[str, str], path: Path) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for name, text in translated.items():
        if name == HOSTNAME_CHECK:
            settings["ssl_check_hostname"] = text not in ("", "none")
        elif name in NAMES:
            settings[NAMES[name]] = text
        else:
            known = ", ".join(sorted([*NAMES, HOSTNAME_CHECK]))
            raise UsageError(f"--command-config {path}: {name} is not known here; known: {known}")
    return settings


def read_properties(path: Path, option: str) -> dict[str, str]:
    """Names and values, as Java reads them; but a stray line, to Java a name without a value, is
    told: a client that came without its login would be told something else. Never what it says.
    """
    try:
        found = properties.read_properties(path, option)
    except SinkError as error:
        raise UsageError(str(error)) from error
    if any(not text and "." not in name for name, text in found.items()):
        raise UsageError(f"{option} {path}: a line of it is no `name=value`")
    return found
