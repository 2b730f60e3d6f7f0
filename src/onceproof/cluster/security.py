"""A cluster whose suspects must log in: TLS, SCRAM users, and an authorizer that asks for ACLs.

    suspects ── SASL_SSL, SCRAM-SHA-512, ACLs ──▶ SUSPECTS ┐
    judge ───── PLAINTEXT, ANONYMOUS = super user ▶ JUDGE   ├─ broker
    brokers ─── PLAINTEXT, ANONYMOUS = super user ▶ INTERNAL, CONTROLLER

    keytool: a CA of this cluster alone ──▶ ca.pem (for clients)
                     └─ signs ──▶ one certificate for all brokers, in broker.p12

Give `Secured.properties()` to `LocalCluster.start`; add users and ACLs by the judge's listener.
"""

import subprocess
from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import confluent_kafka
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from onceproof.cluster.ports import HOST
from onceproof.cluster.readiness import LIBRDKAFKA_LOG
from onceproof.cluster.settings import LISTENERS, SUSPECTS
from onceproof.deadline import Deadline, wait_until
from onceproof.errors import ClusterError
from onceproof.machine import find_java
from onceproof.process import own_environment

MECHANISM = "SCRAM-SHA-512"
KEYTOOL_S_MAX = 60
SETTLE_S_MAX = 15.0
SCRAM_ITERATIONS = 4096  # the least that Kafka takes
_STORE_PASSWORD = "onceproof"  # guards nothing: the store lies beside its password
_EVERY_HOST = "*"
Binding = TypeVar("Binding", AclBinding, AclBindingFilter)


@dataclass(frozen=True, kw_only=True)
class Secured:
    """The certificates of one cluster. `ca` is what clients trust, as PEM."""

    ca: Path
    keystore: Path

    @staticmethod
    def make(directory: Path) -> "Secured":
        """New certificates in `directory`, for brokers on this machine."""
        directory.mkdir(parents=True, exist_ok=True)
        secured = Secured(ca=directory / "ca.pem", keystore=directory / "broker.p12")
        key = ("-genkeypair", "-keyalg", "EC", "-groupname", "secp256r1")
        names = f"san=ip:{HOST},dns:localhost"
        secured._keytool(*key, "-alias", "ca", "-dname", "CN=onceproof CA", "-ext", "bc:c")
        secured._keytool(
            *key, "-alias", "broker", "-dname", "CN=broker", "-ext", names, "-signer", "ca"
        )
        secured._keytool("-exportcert", "-rfc", "-alias", "ca", "-file", str(secured.ca))
        # A broker takes any key it finds: the CA's own must not be among them.
        secured._keytool("-delete", "-alias", "ca")
        return secured

    def properties(self) -> dict[str, str]:
        """What makes SUSPECTS a listener with a login; all others stay as they are."""
        protocols = dict.fromkeys(LISTENERS, "PLAINTEXT") | {SUSPECTS: "SASL_SSL"}
        mine = f"listener.name.{SUSPECTS.lower()}"
        return {
            "listener.security.protocol.map": ",".join(
                f"{name}:{protocol}" for name, protocol in protocols.items()
            ),
            f"{mine}.ssl.keystore.type": "PKCS12",
            f"{mine}.ssl.keystore.location": str(self.keystore.absolute()),
            f"{mine}.ssl.keystore.password": _STORE_PASSWORD,
            f"{mine}.sasl.enabled.mechanisms": MECHANISM,
            f"{mine}.{MECHANISM.lower()}.sasl.jaas.config": (
                "org.apache.kafka.common.security.scram.ScramLoginModule required;"
            ),
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:ANONYMOUS",
        }

    def _keytool(self, *arguments: str) -> None:
        keytool = find_java().home / "bin" / "keytool"
        store = ("-keystore", str(self.keystore), "-storetype", "PKCS12")
        result = subprocess.run(
            [str(keytool), *arguments, *store, "-storepass", _STORE_PASSWORD],
            capture_output=True,
            text=True,
            env=own_environment(),
            timeout=KEYTOOL_S_MAX,
            check=False,
        )
        if result.returncode != 0:
            said = " | ".join((result.stdout + result.stderr).strip().splitlines()[-3:])
            raise ClusterError(f"keytool {arguments[0]} failed; it said: {said}")


@dataclass(frozen=True, kw_only=True)
class Access:
    """One thing a user may do, e.g. Access(operation="write", resource="topic", name="out")."""

    operation: str
    resource: str
    name: str
    prefixed: bool = False

    def __str__(self) -> str:
        return f"{self.operation} on {self.resource} {self.name}{'*' if self.prefixed else ''}"


class Doorkeeper:
    """Users and their ACLs, by the judge's listener. Returns when the brokers know of a change."""

    def __init__(self, bootstrap_server: str) -> None:
        self._admin = AdminClient({"bootstrap.servers": bootstrap_server}, logger=LIBRDKAFKA_LOG)

    def add_user(self, user: str, password: str) -> None:
        """A user who can log in and may do nothing yet; the password is replaced if he is known."""
        info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, SCRAM_ITERATIONS)
        wanted = UserScramCredentialUpsertion(user, info, password.encode())
        self._settle(self._admin.alter_user_scram_credentials([wanted])[user], f"user {user}")
        wait_until(lambda: self._is_user(user), Deadline(SETTLE_S_MAX), f"user {user} is not known")

    def allow(self, user: str, accesses: Iterable[Access]) -> None:
        for access in accesses:
            binding = _acl(AclBinding, user, access)
            self._settle(self._admin.create_acls([binding])[binding], str(access))
            self._wait(user, access, expected=True)

    def forbid(self, user: str, access: Access) -> None:
        """Take back what was allowed."""
        filter_ = _acl(AclBindingFilter, user, access)
        self._settle(self._admin.delete_acls([filter_])[filter_], str(access))
        self._wait(user, access, expected=False)

    def _is_user(self, user: str) -> bool:
        try:
            asked: Any = self._admin.describe_user_scram_credentials([user])
            return bool(asked[user].result(SETTLE_S_MAX))
        except confluent_kafka.KafkaException:  # how an unknown user is told
            return False

    def _wait(self, user: str, access: Access, *, expected: bool) -> None:
        filter_ = _acl(AclBindingFilter, user, access)

        def settled() -> bool:
            return bool(self._admin.describe_acls(filter_).result(SETTLE_S_MAX)) == expected

        wait_until(settled, Deadline(SETTLE_S_MAX), f"the brokers do not know of {access}")

    def _settle(self, future: Future[object], what: str) -> None:
        try:
            future.result(SETTLE_S_MAX)
        except confluent_kafka.KafkaException as error:
            raise ClusterError(f"{what}: {error.args[0].str()}") from error


def _acl(kind: type[Binding], user: str, access: Access) -> Binding:
    """An ACL, or the filter that finds it."""
    pattern = ResourcePatternType.PREFIXED if access.prefixed else ResourcePatternType.LITERAL
    return kind(
        ResourceType[access.resource.upper()],
        access.name,
        pattern,
        f"User:{user}",
        _EVERY_HOST,
        AclOperation[access.operation.upper()],
        AclPermissionType.ALLOW,
    )
