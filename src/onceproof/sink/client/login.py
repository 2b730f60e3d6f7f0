"""How the client proves who it is: mechanism, JAAS entry and OAuth settings, decided together.

PLAIN, SCRAM-SHA-256, SCRAM-SHA-512   user and password of the JAAS entry
OAUTHBEARER                           client credentials at a token endpoint (librdkafka's "oidc")
GSSAPI                                only with a librdkafka that was built for it
"""

import logging
from collections.abc import Callable, Mapping

from onceproof.sink.client.fates import refusal
from onceproof.sink.client.jaas import LoginEntry, read_jaas
from onceproof.sink.errors import SinkError

_KAFKAS = "org.apache.kafka.common.security."
_SHADED = "kafkashaded."  # how Databricks calls the same classes
PLAIN = f"{_KAFKAS}plain.PlainLoginModule"
SCRAM = f"{_KAFKAS}scram.ScramLoginModule"
OAUTHBEARER = f"{_KAFKAS}oauthbearer.OAuthBearerLoginModule"
_MECHANISMS = {
    PLAIN: ("PLAIN",),
    SCRAM: ("SCRAM-SHA-256", "SCRAM-SHA-512"),
    OAUTHBEARER: ("OAUTHBEARER",),
}
_ENDPOINT = "sasl.oauthbearer.token.endpoint.url"
# librdkafka's own ways to a token: a cloud's metadata service, and unsigned ones for tests.
_NEEDS_NO_ENDPOINT = {
    "sasl.oauthbearer.metadata.authentication.type",
    "enable.sasl.oauthbearer.unsecure.jwt",
}
_OWN_HANDLERS = (
    "",
    f"{_KAFKAS}oauthbearer.OAuthBearerLoginCallbackHandler",
    f"{_KAFKAS}oauthbearer.secured.OAuthBearerLoginCallbackHandler",
)
_MSK_IAM = (
    "AWS MSK IAM needs a Java class; use a SCRAM user of the cluster"
    " (kafka.sasl.mechanism=SCRAM-SHA-512) or a client certificate"
)
_KERBEROS = (
    "confluent-kafka's wheels are built without Kerberos; use SCRAM or a client certificate, or"
    " install confluent-kafka from source on driver and executors, with a librdkafka built with"
    " libsasl2, and give 'kafka.sasl.kerberos.principal' and 'kafka.sasl.kerberos.keytab'"
)
_OTHER_MODULES = {
    "com.sun.security.auth.module.Krb5LoginModule": _KERBEROS,
    "com.ibm.security.auth.module.Krb5LoginModule": _KERBEROS,
    "software.amazon.msk.auth.iam.IAMLoginModule": _MSK_IAM,
}


def login_settings(given: Mapping[str, str]) -> dict[str, str]:
    """librdkafka's settings for the SASL login that `given` (Java names) describes."""
    _refuse_handlers(given)
    mechanism = given.get("sasl.mechanism", given.get("sasl.mechanisms"))
    entry = _entry(given)
    _refuse_mechanism(given, mechanism, entry)
    settings = {} if mechanism is None else {"sasl.mechanism": mechanism}
    if entry is not None:
        settings |= _READERS[entry.module](entry)
    return settings | _token_endpoint(given, mechanism)


def _refuse_handlers(given: Mapping[str, str]) -> None:
    option = "sasl.login.callback.handler.class"
    handler = given.get(option, "").removeprefix(_SHADED)
    if handler not in _OWN_HANDLERS:
        raise refusal(
            option,
            "no Java class can run here; client credentials at a token endpoint are given by"
            f" {OAUTHBEARER} with clientId and clientSecret, and 'kafka.{_ENDPOINT}'",
        )


def _entry(given: Mapping[str, str]) -> LoginEntry | None:
    if "sasl.jaas.config" not in given:
        return None
    entry = read_jaas(given["sasl.jaas.config"])
    entry = LoginEntry(module=entry.module.removeprefix(_SHADED), options=entry.options)
    if entry.module in _OTHER_MODULES:
        raise refusal("sasl.jaas.config", f"{entry.module}: {_OTHER_MODULES[entry.module]}")
    if entry.module not in _READERS:
        # Named only where it looks like a class: else it may be a misplaced secret.
        named = entry.module if entry.module.endswith("LoginModule") else "its first word"
        raise refusal(
            "sasl.jaas.config",
            f"{named} is no login module known here; known are {', '.join(_READERS)}",
        )
    return entry


def _refuse_mechanism(
    given: Mapping[str, str], mechanism: str | None, entry: LoginEntry | None
) -> None:
    fitting = () if entry is None else _MECHANISMS[entry.module]
    if mechanism is None:
        if entry is None and not given.get("security.protocol", "").upper().startswith("SASL"):
            return
        raise SinkError(
            "option 'kafka.sasl.mechanism' is missing; expected"
            f" {' or '.join(fitting or _all_mechanisms())}; without it Kafka takes GSSAPI"
        )
    if mechanism == "AWS_MSK_IAM":
        raise refusal("sasl.mechanism", _MSK_IAM)
    if mechanism == "GSSAPI" and not librdkafka_has("sasl_gssapi"):
        raise refusal("sasl.mechanism", f"GSSAPI: {_KERBEROS}")
    if mechanism != "GSSAPI" and mechanism not in _all_mechanisms():
        raise refusal(
            "sasl.mechanism", f"got {mechanism}; known are {', '.join(_all_mechanisms())}"
        )
    if entry is not None and mechanism not in fitting:
        raise refusal(
            "sasl.mechanism",
            f"got {mechanism}, but {entry.module} goes with {' or '.join(fitting)}",
        )


def _all_mechanisms() -> list[str]:
    return [mechanism for several in _MECHANISMS.values() for mechanism in several]


def librdkafka_has(feature: str) -> bool:
    """Whether the librdkafka of this process was built with a feature."""
    from confluent_kafka import KafkaException, Producer

    silent = logging.getLogger("onceproof.sink.librdkafka")
    try:
        Producer({"builtin.features": feature}, logger=silent)
    except KafkaException:
        return False
    return True


def _user_and_password(entry: LoginEntry) -> dict[str, str]:
    options = dict(entry.options)
    if options.pop("tokenauth", "false") != "false":
        raise refusal(
            "sasl.jaas.config", "librdkafka knows no delegation tokens; use a SCRAM user instead"
        )
    _require_just(entry, options, {"username", "password"})
    return {"sasl.username": options["username"], "sasl.password": options["password"]}


def _client_credentials(entry: LoginEntry) -> dict[str, str]:
    options = dict(entry.options)
    prefix = "extension_"
    names = [name for name in options if name.startswith(prefix)]
    extensions = ",".join(f"{name.removeprefix(prefix)}={options.pop(name)}" for name in names)
    scope = options.pop("scope", None)
    if options:  # none: they stand in sasl.oauthbearer.client.credentials.*
        _require_just(entry, options, {"clientId", "clientSecret"})
    found = {
        "sasl.oauthbearer.client.id": options.get("clientId"),
        "sasl.oauthbearer.client.secret": options.get("clientSecret"),
        "sasl.oauthbearer.scope": scope,
        "sasl.oauthbearer.extensions": extensions or None,
    }
    return {name: value for name, value in found.items() if value is not None}


_READERS: dict[str, Callable[[LoginEntry], dict[str, str]]] = {
    PLAIN: _user_and_password,
    SCRAM: _user_and_password,
    OAUTHBEARER: _client_credentials,
}


def _require_just(entry: LoginEntry, options: Mapping[str, str], expected: set[str]) -> None:
    """Names that were not expected are not repeated: a wrong quote makes names of secrets."""
    missing, more = sorted(expected - set(options)), len(set(options) - expected)
    if missing or more:
        raise refusal(
            "sasl.jaas.config",
            f"{entry.module} must have {' and '.join(sorted(expected))};"
            f" missing: {', '.join(missing) or 'none'}; others not known here: {more}",
        )


def _token_endpoint(given: Mapping[str, str], mechanism: str | None) -> dict[str, str]:
    endpoint = given.get(_ENDPOINT)
    if endpoint is None:
        if mechanism == "OAUTHBEARER" and not _NEEDS_NO_ENDPOINT & given.keys():
            raise SinkError(f"option 'kafka.{_ENDPOINT}' is missing; OAUTHBEARER needs it")
        return {}
    if endpoint.startswith("file:"):
        raise refusal(_ENDPOINT, "librdkafka reads no token from a file; give an https address")
    method = {"sasl.oauthbearer.method": "oidc"} if mechanism == "OAUTHBEARER" else {}
    return {_ENDPOINT: endpoint, **method}
