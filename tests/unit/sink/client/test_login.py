"""SASL logins as Java users write them, and those that cannot be had here."""

import pytest

from onceproof.sink.client.login import login_settings
from onceproof.sink.errors import SinkError

SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
OAUTH = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
USER = 'required username="writer" password="s3cret";'
ENDPOINT = "https://login.example.com/token"


def login(mechanism: str | None, jaas: str | None, **more: str) -> dict[str, str]:
    given = {name.replace("_", "."): value for name, value in more.items()}
    if mechanism is not None:
        given["sasl.mechanism"] = mechanism
    if jaas is not None:
        given["sasl.jaas.config"] = jaas
    return login_settings(given)


@pytest.mark.parametrize(
    ("mechanism", "module"),
    [
        ("SCRAM-SHA-512", SCRAM),
        ("SCRAM-SHA-256", SCRAM),
        ("PLAIN", PLAIN),
        ("PLAIN", f"kafkashaded.{PLAIN}"),
    ],
)
def test_user_and_password_of_a_jaas_entry_are_taken(mechanism: str, module: str) -> None:
    assert login(mechanism, f"{module} {USER}") == {
        "sasl.mechanism": mechanism,
        "sasl.username": "writer",
        "sasl.password": "s3cret",
    }


def test_client_credentials_become_oidc() -> None:
    jaas = f'{OAUTH} required clientId="id" clientSecret="s3cret" scope="a b" extension_pool="p1";'
    assert login("OAUTHBEARER", jaas, sasl_oauthbearer_token_endpoint_url=ENDPOINT) == {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.token.endpoint.url": ENDPOINT,
        "sasl.oauthbearer.client.id": "id",
        "sasl.oauthbearer.client.secret": "s3cret",
        "sasl.oauthbearer.scope": "a b",
        "sasl.oauthbearer.extensions": "pool=p1",
    }


def test_java_4_has_the_credentials_outside_of_the_entry() -> None:
    settings = login(
        "OAUTHBEARER", f"{OAUTH} required;", sasl_oauthbearer_token_endpoint_url=ENDPOINT
    )
    assert settings["sasl.oauthbearer.method"] == "oidc"
    assert "sasl.oauthbearer.client.id" not in settings


def test_without_sasl_nothing_is_said() -> None:
    assert login(None, None, security_protocol="SSL") == {}


@pytest.mark.parametrize(
    ("mechanism", "jaas", "message"),
    [
        (None, f"{PLAIN} {USER}", "'kafka.sasl.mechanism' is missing; expected PLAIN;"),
        ("PLAIN", f"{SCRAM} {USER}", "goes with SCRAM-SHA-256 or SCRAM-SHA-512"),
        ("DIGEST-MD5", None, "got DIGEST-MD5; known are PLAIN, SCRAM-SHA-256"),
        ("GSSAPI", None, "built without Kerberos"),
        ("GSSAPI", "com.sun.security.auth.module.Krb5LoginModule required;", "without Kerberos"),
        ("AWS_MSK_IAM", None, "AWS MSK IAM needs a Java class; use a SCRAM user"),
        ("AWS_MSK_IAM", "software.amazon.msk.auth.iam.IAMLoginModule required;", "use a SCRAM"),
        ("PLAIN", f"org.example.OtherLoginModule {USER}", "org.example.OtherLoginModule is no"),
        ("PLAIN", f"s3cret {USER}", "its first word is no login module"),
        ("PLAIN", f'{PLAIN} required username="u";', "missing: password"),
        ("PLAIN", f'{PLAIN} required username="u" password="" s3cret="";', "not known here: 1"),
        ("SCRAM-SHA-256", f'{SCRAM} required tokenauth="true";', "no delegation tokens"),
        ("OAUTHBEARER", f"{OAUTH} required;", "token.endpoint.url' is missing"),
    ],
)
def test_a_login_that_cannot_be_had_is_refused_by_name(
    mechanism: str | None, jaas: str | None, message: str
) -> None:
    with pytest.raises(SinkError) as refused:
        login(mechanism, jaas)
    assert message in str(refused.value)
    assert "s3cret" not in str(refused.value)


def test_sasl_without_a_mechanism_is_refused() -> None:
    with pytest.raises(SinkError, match="without it Kafka takes GSSAPI"):
        login(None, None, security_protocol="SASL_SSL")


def test_a_handler_of_java_is_refused_but_for_kafkas_own() -> None:
    option = "sasl.login.callback.handler.class"
    own = "org.apache.kafka.common.security.oauthbearer.secured.OAuthBearerLoginCallbackHandler"
    assert login_settings({option: own}) == {}
    with pytest.raises(SinkError, match=f"'kafka.{option}' cannot be used: no Java class"):
        login_settings(
            {option: "io.strimzi.kafka.oauth.client.JaasClientOauthLoginCallbackHandler"}
        )
