"""A storage directory formatted once per Kafka version by Kafka's own tool, copied per broker.

    StorageTool format ──▶ cache/<version>/   (bootstrap.checkpoint: the feature levels)
                                 │ copy, with another node.id, directory.id and cluster.id
                                 ▼
                           broker-1/data   broker-2/data   broker-3/data

The tool decides the feature levels (transaction.version, group.version): without them KIP-890 and
KIP-848 are off and a healthy broker looks broken.
"""

import base64
import contextlib
import shutil
import subprocess
import uuid
from collections.abc import Mapping
from pathlib import Path

from onceproof.cache import cache_directory
from onceproof.cluster.settings import CONTROLLER, to_text
from onceproof.errors import ClusterError
from onceproof.process import own_environment

FORMAT_S_MAX = 60
META = "meta.properties"
CHECKPOINT = "bootstrap.checkpoint"


def formatted_template(version: str, java: str, classpath: str) -> Path:
    """The template of this version; formatted where the cache has none or half of one."""
    entry = cache_directory("formatted") / version
    if (entry / META).is_file() and (entry / CHECKPOINT).is_file():
        return entry
    shutil.rmtree(entry, ignore_errors=True)
    # Renamed into its place when done: a reader never finds half of one, the first maker wins.
    fresh = entry.with_name(f".{version}-{uuid.uuid4().hex[:8]}")
    try:
        fresh.mkdir(parents=True)
        _format(fresh, java, classpath)
        with contextlib.suppress(OSError):
            fresh.rename(entry)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return entry


def format_storage(
    directory: Path, properties_file: Path, java: str, classpath: str, cluster_id: str
) -> None:
    """Run Kafka's own tool on `properties_file`, whose log.dirs is `directory`."""
    argv = [java, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", classpath]
    argv += ["kafka.tools.StorageTool", "format", "-t", cluster_id, "-c", str(properties_file)]
    result = subprocess.run(
        argv,
        capture_output=True,
        text=True,
        env=own_environment(),
        timeout=FORMAT_S_MAX,
        check=False,
    )
    if result.returncode != 0 or not (directory / META).is_file():
        said = " | ".join((result.stdout + result.stderr).strip().splitlines()[-3:])
        raise ClusterError(f"kafka-storage could not format {directory}; it said: {said}")


def _format(fresh: Path, java: str, classpath: str) -> None:
    properties = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": "1@127.0.0.1:1",
        "listeners": "PLAINTEXT://127.0.0.1:2,CONTROLLER://127.0.0.1:1",
        "controller.listener.names": CONTROLLER,
        "log.dirs": str(fresh),
    }
    properties_file = fresh / "format.properties"
    properties_file.write_text(to_text(properties))
    format_storage(fresh, properties_file, java, classpath, new_kafka_id())
    properties_file.unlink()


def copy_template(template: Path, data: Path, *, node_id: int, cluster_id: str) -> None:
    """A storage directory for one broker: the template with ids of its own."""
    shutil.copytree(template, data, dirs_exist_ok=True)
    meta = data / META
    meta.write_text(with_ids(meta.read_text(), node_id=node_id, cluster_id=cluster_id))


def with_ids(meta: str, *, node_id: int, cluster_id: str) -> str:
    """The text of meta.properties with other ids. Before 3.7 it has no directory.id: gets none."""
    ids: Mapping[str, str] = {
        "node.id": str(node_id),
        "cluster.id": cluster_id,
        "directory.id": new_kafka_id(),
    }
    lines = []
    for line in meta.splitlines():
        name, separator, _ = line.partition("=")
        lines.append(f"{name}={ids[name]}" if separator and name in ids else line)
    return "\n".join(lines) + "\n"


def new_kafka_id() -> str:
    """Kafka's own form of a uuid: url-safe base64 without padding. It may not begin with a dash."""
    while True:
        text = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not text.startswith("-"):
            return text
