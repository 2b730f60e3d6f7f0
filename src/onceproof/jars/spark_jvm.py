"""How a Spark JVM is started here: the Kafka connector on its classpath, and a class-data archive.

Most of a Spark start is class loading. The first JVM that ends cleanly leaves an archive of the
classes it loaded (AppCDS); later ones map it: start to first micro-batch fell from 19.5 s to 7.3 s
on 2 busy cores. An archive that does not fit (another JDK, other jars) is ignored by the JVM
itself.
"""

import hashlib
import os
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from onceproof import cache, jars
from onceproof.machine import find_java

CONNECTOR_SET = "spark-kafka-4.2.0"
# C1 only: runs here last minutes, and on two cores the C2 compiler takes the time of the work
# itself. Without C2 the JVM reserves 48 MB for compiled code, which Spark fills within minutes:
# then all is thrown out and compiled again.
_FLAGS = (
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:ReservedCodeCacheSize=240m",
    "-Xlog:disable",
    "-Xlog:all=error:stderr",
)


@dataclass(frozen=True, kw_only=True)
class SparkJvm:
    classpath: str
    java_options: str
    fresh_archive: Path | None  # where this JVM will leave one, if there is none yet

    def keep_archive(self) -> None:
        """After a clean end of the JVM: its archive is the one that later JVMs use.

        Its size goes into its name: half an archive, unlike junk, crashes the JVM that maps it.
        """
        fresh = self.fresh_archive
        if fresh is not None and fresh.exists():
            stem = fresh.name.partition(".")[0]
            fresh.replace(fresh.with_name(f"{stem}-{fresh.stat().st_size}.jsa"))


def spark_jvm(use: str, progress: jars.Progress | None = None) -> SparkJvm:
    """`use`: what the JVM is for ("judge", "suspect"): each loads other classes, so each has its
    own archive. The first JVM of a use writes it when it is ended in order.
    """
    classpath = os.pathsep.join(str(path) for path in jars.classpath(CONNECTOR_SET, progress))
    java = find_java()
    identity = f"{version('pyspark')} {java.executable} {java.version} {classpath}"
    name = hashlib.sha256(identity.encode()).hexdigest()[:16]
    folder = cache.cache_directory("classdata")
    archive = _whole_archive(folder, f"spark-{use}-{name}")
    fresh = None
    flags = list(_FLAGS)
    if archive is not None:
        flags.append(f"-XX:SharedArchiveFile={archive}")
    else:
        folder.mkdir(parents=True, exist_ok=True)
        fresh = folder / f"spark-{use}-{name}.{os.getpid()}.part"
        flags.append(f"-XX:ArchiveClassesAtExit={fresh}")
    return SparkJvm(
        classpath=classpath,
        java_options=" ".join(flags),
        fresh_archive=fresh,
    )


def _whole_archive(folder: Path, stem: str) -> Path | None:
    """The archive of that name whose size is the one in its name; any other is thrown away."""
    whole = None
    for path in sorted(folder.glob(f"{stem}-*.jsa")):
        if path.stem == f"{stem}-{path.stat().st_size}":
            whole = path
        else:
            path.unlink(missing_ok=True)
    return whole
