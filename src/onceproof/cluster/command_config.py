"""A client's settings in a .properties file, as Kafka's own tools take them (`--command-config`).

    security.protocol, sasl.*, ssl.* (Java's names, or librdkafka's) ──▶ kafka-python's settings

No value of such a file is ever told: it may be a secret.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onceproof.errors import UsageError
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
_PAIR = re.compile(r"([^=:\s]+)\s*[=:\s]\s*(.*)")


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
    """Names and values; a line that ends in a backslash goes on in the next."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{option} {path} cannot be read: {_said(error)}") from error
    found = {}
    for number, line in enumerate(re.sub(r"\\\n\s*", "", text).splitlines(), start=1):
        bare = line.strip()
        if not bare or bare[0] in "#!":
            continue
        pair = _PAIR.fullmatch(bare)
        if pair is None:
            raise UsageError(f"{option} {path}: line {number} is no `name=value`")
        found[pair[1]] = pair[2]
    return found


def _said(error: Exception) -> str:
    return error.strerror or "no such file" if isinstance(error, OSError) else "it is not UTF-8"
