"""What Cassandra reads at its start: one node, its folders below one, its log to stdout."""

import json
from pathlib import Path

from onceproof.databases.server import HOST

LOGBACK = """<configuration>
  <appender name="STDOUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%d{HH:mm:ss.SSS} [%t] %-5level %logger{0} - %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="STDOUT"/></root>
</configuration>
"""


def write_files(directory: Path, *, native_port: int, storage_port: int) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "logback.xml").write_text(LOGBACK)
    seeds = [{"seeds": f"{HOST}:{storage_port}"}]
    settings = {
        "cluster_name": "onceproof",
        "num_tokens": 1,
        "auto_bootstrap": False,
        "partitioner": "org.apache.cassandra.dht.Murmur3Partitioner",
        "endpoint_snitch": "SimpleSnitch",
        "seed_provider": [
            {"class_name": "org.apache.cassandra.locator.SimpleSeedProvider", "parameters": seeds}
        ],
        "listen_address": HOST,
        "rpc_address": HOST,
        "storage_port": storage_port,
        "native_transport_port": native_port,
        "start_native_transport": True,
        "commitlog_sync": "periodic",
        "commitlog_sync_period": "10s",
        "data_file_directories": [str(directory / "data")],
        "commitlog_directory": str(directory / "commitlog"),
        "saved_caches_directory": str(directory / "saved_caches"),
        "hints_directory": str(directory / "hints"),
        "cdc_raw_directory": str(directory / "cdc_raw"),
        "auto_snapshot": False,
        "batch_size_fail_threshold": "5MiB",
        "batch_size_warn_threshold": "1MiB",
    }
    # Every JSON text is YAML.
    (directory / "cassandra.yaml").write_text(json.dumps(settings, indent=1) + "\n")
    return directory
