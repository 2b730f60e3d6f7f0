"""Trust and key stores. What is in the file decides, not what its name or its type says.

                 truststore                      keystore
PEM              ssl.ca.location                 ssl.certificate.location, ssl.key.location
PKCS12           refused, with the command       ssl.keystore.location
JKS, JCEKS       refused, with the command       refused, with the command
"""

from collections.abc import Mapping
from pathlib import Path

from onceproof.sink.client.fates import refusal
from onceproof.sink.errors import SinkError

PEM, PKCS12, JKS, JCEKS = "PEM", "PKCS12", "JKS", "JCEKS"
_LOOK_AT_BYTES = 64 * 1024  # a PEM file may begin with a text about its certificates
_MAGIC = {b"\xfe\xed\xfe\xed": JKS, b"\xce\xce\xce\xce": JCEKS}
# A store may be given as text, which is PEM.
_TEXTS = {
    "truststore": ("ssl.truststore.certificates",),
    "keystore": ("ssl.keystore.key", "ssl.keystore.certificate.chain"),
}
_SEQUENCE, _VERSION_3 = 0x30, b"\x02\x01\x03"


def store_settings(given: Mapping[str, str]) -> dict[str, str]:
    """librdkafka's settings for the stores that `given` (Java names) names."""
    return {**_truststore(given), **_keystore(given)}


def java_store_types(given: Mapping[str, str]) -> dict[str, str]:
    """What Java must be told of the same stores: it takes those without a type for JKS."""
    types = {}
    for side, texts in _TEXTS.items():
        option, kind = f"ssl.{side}.location", f"ssl.{side}.type"
        if option in given:
            types[kind] = _kind(given, option, kind)
        elif any(text in given for text in texts):
            types[kind] = PEM
    return types


def kind_of(content: bytes) -> str | None:
    """What a store is by its first bytes; None: nothing known."""
    if content[:4] in _MAGIC:
        return _MAGIC[content[:4]]
    if b"-----BEGIN " in content:
        return PEM
    # A PKCS12 file is a DER sequence (its length takes 1 to 5 bytes) that opens with version 3.
    if content[:1] == bytes([_SEQUENCE]) and _VERSION_3 in content[2:10]:
        return PKCS12
    return None


def _truststore(given: Mapping[str, str]) -> dict[str, str]:
    option = "ssl.truststore.location"
    if option not in given:
        return {}
    location = given[option]
    kind = _kind(given, option, "ssl.truststore.type")
    if kind == PEM:
        return {"ssl.ca.location": location}
    raise refusal(
        option,
        f"{location} is a {kind} store, and librdkafka reads PEM. Convert it by"
        f" `keytool -list -rfc -keystore {location} > truststore.pem`"
        " and give that file, or its text as 'kafka.ssl.truststore.certificates'",
    )


def _keystore(given: Mapping[str, str]) -> dict[str, str]:
    option = "ssl.keystore.location"
    password = {name: given[name] for name in ("ssl.key.password",) if name in given}
    if option not in given:
        return password
    location = given[option]
    kind = _kind(given, option, "ssl.keystore.type")
    if kind == PEM:
        return {"ssl.certificate.location": location, "ssl.key.location": location, **password}
    if kind == PKCS12:
        return {"ssl.keystore.location": location, **_one_password(given)}
    raise refusal(
        option,
        f"{location} is a {kind} store, and librdkafka reads PKCS12 or PEM. Convert it by"
        f" `keytool -importkeystore -srckeystore {location} -destkeystore keystore.p12"
        " -deststoretype PKCS12` and give that file",
    )


def _one_password(given: Mapping[str, str]) -> dict[str, str]:
    password = given.get("ssl.keystore.password", "")
    if given.get("ssl.key.password", password) != password:
        raise refusal(
            "ssl.key.password",
            "librdkafka opens a PKCS12 store and its key with one password; give both the same",
        )
    return {"ssl.keystore.password": password}


def _kind(given: Mapping[str, str], option: str, type_option: str) -> str:
    """By the file; by the type given where the file is not on this machine."""
    declared = given.get(type_option, "").upper()
    try:
        with Path(given[option]).open("rb") as file:
            found = kind_of(file.read(_LOOK_AT_BYTES))
    except OSError as error:
        if declared:
            return declared
        raise SinkError(
            f"option 'kafka.{option}': {given[option]} cannot be read here ({error.strerror});"
            f" if only executors have it, give 'kafka.{type_option}' too"
        ) from None
    if found is None:
        raise refusal(option, f"{given[option]} is none of PEM, PKCS12, JKS, JCEKS")
    return found
