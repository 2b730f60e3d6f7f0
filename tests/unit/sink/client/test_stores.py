"""Stores are told apart by what is in them. The PKCS12 and JKS heads are keytool's."""

from pathlib import Path

import pytest

from onceproof.sink.client.stores import kind_of, store_settings
from onceproof.sink.errors import SinkError

HEADS = {
    "PEM": b"Alias name: ca\nEntry type: trustedCertEntry\n\n-----BEGIN CERTIFICATE-----\nMIIF",
    "PKCS12": bytes.fromhex("3082099602010330820940"),
    "JKS": bytes.fromhex("feedfeed0000000200000001"),
    "JCEKS": bytes.fromhex("cececece0000000200000001"),
}


def file_of(kind: str, tmp_path: Path) -> str:
    path = tmp_path / "store.jks"  # a name proves nothing
    path.write_bytes(HEADS[kind])
    return str(path)


@pytest.mark.parametrize("kind", HEADS)
def test_a_store_is_known_by_its_first_bytes(kind: str) -> None:
    assert kind_of(HEADS[kind]) == kind


def test_a_lone_certificate_is_no_store(tmp_path: Path) -> None:
    path = tmp_path / "ca.der"
    path.write_bytes(bytes.fromhex("3082031b30820203a003020102"))
    with pytest.raises(SinkError, match="is none of PEM, PKCS12, JKS, JCEKS"):
        store_settings({"ssl.truststore.location": str(path)})


def test_a_pem_truststore_is_librdkafkas_ca_file(tmp_path: Path) -> None:
    location = file_of("PEM", tmp_path)
    given = {"ssl.truststore.location": location, "ssl.truststore.type": "JKS"}
    assert store_settings(given) == {"ssl.ca.location": location}


@pytest.mark.parametrize("kind", ["JKS", "PKCS12"])
def test_another_truststore_is_refused_with_the_command_that_converts_it(
    kind: str, tmp_path: Path
) -> None:
    location = file_of(kind, tmp_path)
    with pytest.raises(SinkError) as refused:
        store_settings({"ssl.truststore.location": location, "ssl.truststore.password": "s3cret"})
    assert f"is a {kind} store" in str(refused.value)
    assert f"keytool -list -rfc -keystore {location} > truststore.pem" in str(refused.value)
    assert "s3cret" not in str(refused.value)


def test_a_pem_keystore_holds_certificate_and_key(tmp_path: Path) -> None:
    location = file_of("PEM", tmp_path)
    given = {"ssl.keystore.location": location, "ssl.key.password": "s3cret"}
    assert store_settings(given) == {
        "ssl.certificate.location": location,
        "ssl.key.location": location,
        "ssl.key.password": "s3cret",
    }


def test_a_pkcs12_keystore_is_opened_by_its_one_password(tmp_path: Path) -> None:
    location = file_of("PKCS12", tmp_path)
    given = {"ssl.keystore.location": location, "ssl.keystore.password": "s3cret"}
    expected = {"ssl.keystore.location": location, "ssl.keystore.password": "s3cret"}
    assert store_settings(given) == expected
    assert store_settings({**given, "ssl.key.password": "s3cret"}) == expected
    with pytest.raises(SinkError, match="give both the same") as refused:
        store_settings({**given, "ssl.key.password": "oth3r"})
    assert "s3cret" not in str(refused.value)
    assert "oth3r" not in str(refused.value)


def test_a_jks_keystore_is_refused_with_the_command_that_converts_it(tmp_path: Path) -> None:
    location = file_of("JKS", tmp_path)
    with pytest.raises(SinkError, match=r"keytool -importkeystore .* -deststoretype PKCS12"):
        store_settings({"ssl.keystore.location": location})


def test_a_file_that_only_executors_have_needs_its_type() -> None:
    given = {"ssl.truststore.location": "ca-on-executors.pem"}
    with pytest.raises(SinkError, match=r"give 'kafka.ssl.truststore.type' too"):
        store_settings(given)
    settings = store_settings({**given, "ssl.truststore.type": "PEM"})
    assert settings == {"ssl.ca.location": "ca-on-executors.pem"}
    with pytest.raises(SinkError, match="is a JKS store"):
        store_settings({**given, "ssl.truststore.type": "jks"})
