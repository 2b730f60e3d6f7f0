"""What Cassandra is started with. No server is started."""

import json
from pathlib import Path

from onceproof.databases.cassandra_files import write_files
from onceproof.databases.cassandra_jvm import JAR_SET, command
from onceproof.jars.lock import committed_lock


def test_all_its_folders_are_below_the_one_it_is_given(tmp_path: Path) -> None:
    write_files(tmp_path / "node", native_port=15_001, storage_port=15_002)
    settings = json.loads((tmp_path / "node" / "cassandra.yaml").read_text())
    folders = [settings[name] for name in settings if name.endswith("_directory")]
    folders += settings["data_file_directories"]
    assert len(folders) == 5
    assert [each for each in folders if not each.startswith(str(tmp_path / "node"))] == []
    assert (settings["native_transport_port"], settings["storage_port"]) == (15_001, 15_002)
    assert settings["seed_provider"][0]["parameters"] == [{"seeds": "127.0.0.1:15002"}]


def test_the_locked_jars_have_one_agent_and_the_agent_is_on_the_command_line() -> None:
    jars = [Path(artifact.path) for artifact in committed_lock().artifacts(JAR_SET)]
    words = command("java", jars, Path("/node"))
    (agent,) = (word for word in words if word.startswith("-javaagent:"))
    assert agent.endswith("jamm-0.4.0.jar")
    assert "-Dcassandra.config=file:///node/cassandra.yaml" in words
    assert words[-1] == "org.apache.cassandra.service.CassandraDaemon"
