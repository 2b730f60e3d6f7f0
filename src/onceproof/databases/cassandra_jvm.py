"""The command line of Cassandra's JVM: what Java 17 must open to it, and a small heap."""

from collections.abc import Sequence
from pathlib import Path

JAR_SET = "cassandra-5.0.9"
AGENT = "jamm-"  # measures objects; without it Cassandra guesses and complains
# As the server's own options for Java 17 have it.
EXPORTED = (
    "java.base/java.lang.ref",
    "java.base/java.lang.reflect",
    "java.base/jdk.internal.misc",
    "java.base/jdk.internal.ref",
    "java.base/sun.nio.ch",
    "java.management.rmi/com.sun.jmx.remote.internal.rmi",
    "java.rmi/sun.rmi.registry",
    "java.rmi/sun.rmi.server",
    "java.sql/java.sql",
    "jdk.unsupported/sun.misc",
)
OPENED = (
    "java.base/java.io",
    "java.base/java.lang",
    "java.base/java.lang.module",
    "java.base/java.lang.reflect",
    "java.base/java.math",
    "java.base/java.net",
    "java.base/java.nio",
    "java.base/java.util",
    "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.base/jdk.internal.loader",
    "java.base/jdk.internal.math",
    "java.base/jdk.internal.module",
    "java.base/jdk.internal.ref",
    "java.base/jdk.internal.reflect",
    "java.base/jdk.internal.util.jar",
    "java.base/sun.nio.ch",
    "jdk.management/com.sun.management.internal",
)
FLAGS = (
    *("-Xms512m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
    # A node alone has nobody to wait for.
    "-Dcassandra.skip_wait_for_gossip_to_settle=0",
    "-Dcassandra.superuser_setup_delay_ms=0",
    "-Dcassandra-foreground=yes",
    "-Djava.security.manager=allow",
)


def command(java: str, jars: Sequence[Path], directory: Path) -> list[str]:
    """`directory` holds its files, see cassandra_files.py."""
    (agent,) = (jar for jar in jars if jar.name.startswith(AGENT))
    return [
        java,
        *FLAGS,
        *(word for name in EXPORTED for word in ("--add-exports", f"{name}=ALL-UNNAMED")),
        *(word for name in OPENED for word in ("--add-opens", f"{name}=ALL-UNNAMED")),
        f"-javaagent:{agent}",
        f"-Dcassandra.config=file://{directory / 'cassandra.yaml'}",
        f"-Dcassandra.storagedir={directory}",
        f"-Dlogback.configurationFile={directory / 'logback.xml'}",
        *("-cp", ":".join(str(jar) for jar in jars)),
        "org.apache.cassandra.service.CassandraDaemon",
    ]
