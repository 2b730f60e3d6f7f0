"""Which Java is taken, and what is said about a machine that lacks something."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from onceproof import machine
from onceproof.errors import MachineError

MODULES = "java.base@{0}\njdk.incubator.vector@{0}"
MakeJava = Callable[..., Path]


@pytest.fixture(autouse=True)
def _lonely_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of its own, Debian 12, and no Java but those a test makes."""
    release = tmp_path / "os-release"
    release.write_text('ID=debian\nVERSION_ID="12"\n')
    memory = tmp_path / "meminfo"
    memory.write_text("MemTotal: 9437184 kB\nMemAvailable:    8388608 kB\n")
    monkeypatch.setattr(machine, "OS_RELEASE", release)
    monkeypatch.setattr(machine, "MEMORY_INFO", memory)
    monkeypatch.setattr(machine, "CGROUP", tmp_path / "no-cgroup")
    monkeypatch.setattr(machine, "DISK_BYTES_MIN", 1)
    monkeypatch.setenv("ONCEPROOF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path / "jdk" / "bin"))
    monkeypatch.delenv("JAVA_HOME", raising=False)


@pytest.fixture
def make_java(tmp_path: Path) -> MakeJava:
    """A script that answers as `java` does, and counts how often it is asked."""

    def make(version: str = "17.0.15", modules: str = MODULES, folder: str = "jdk") -> Path:
        home = tmp_path / folder
        executable = home / "bin" / "java"
        executable.parent.mkdir(parents=True, exist_ok=True)
        executable.write_text(
            f"#!/bin/sh\necho asked >> {home}/asked\n"
            f'echo "    java.home = {home}"\necho "    java.version = {version}"\n'
            f'echo "{modules.format(version)}"\n'
        )
        executable.chmod(0o755)
        return home

    return make


def asked(home: Path) -> int:
    return len((home / "asked").read_text().splitlines())


def test_the_java_on_the_path_is_found(make_java: MakeJava) -> None:
    home = make_java("21.0.2")
    java = machine.find_java()
    assert (java.home, java.executable) == (home, home / "bin" / "java")
    assert (java.version, java.feature_version) == ("21.0.2", 21)


def test_java_home_goes_before_the_path(
    make_java: MakeJava, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_java("17.0.15")
    chosen = make_java("25", folder="chosen")
    monkeypatch.setenv("JAVA_HOME", str(chosen))
    assert machine.find_java().version == "25"


def test_a_java_is_asked_once_until_it_changes(make_java: MakeJava) -> None:
    home = make_java("17.0.15")
    first, second = machine.find_java(), machine.find_java()
    assert first == second
    assert asked(home) == 1
    make_java("21.0.2")
    assert machine.find_java().version == "21.0.2"
    assert asked(home) == 2


def test_a_spoiled_memory_is_asked_again(make_java: MakeJava, tmp_path: Path) -> None:
    home = make_java()
    machine.find_java()
    (tmp_path / "cache" / "machine" / "java.json").write_text("[half")
    assert machine.find_java().home == home


def test_no_java_names_the_package() -> None:
    expected = (
        "no Java found (JAVA_HOME, PATH); install one: sudo apt install openjdk-17-jdk-headless"
    )
    with pytest.raises(MachineError, match=f"^{re.escape(expected)}$"):
        machine.find_java()


def test_debian_13_is_told_of_java_21(tmp_path: Path) -> None:
    (tmp_path / "os-release").write_text('ID=debian\nVERSION_ID="13"\n')
    with pytest.raises(MachineError, match="openjdk-21-jdk-headless"):
        machine.find_java()


def test_a_java_home_without_java_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    with pytest.raises(MachineError, match="JAVA_HOME is /nowhere, which has no bin/java"):
        machine.find_java()


def test_java_11_is_too_old(make_java: MakeJava) -> None:
    make_java("11.0.22")
    with pytest.raises(
        MachineError, match=r"is Java 11\.0\.22; 17 or newer is needed; install one"
    ):
        machine.find_java()


def test_java_8_is_too_old_though_it_knows_no_modules(tmp_path: Path) -> None:
    executable = tmp_path / "jdk" / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(
        '#!/bin/sh\n[ "$1" = -version ] && echo \'openjdk version "1.8.0_362"\' && exit 0\n'
        "echo Unrecognized option: --list-modules\nexit 1\n"
    )
    executable.chmod(0o755)
    with pytest.raises(MachineError, match=r"is Java 1\.8\.0_362; 17 or newer is needed"):
        machine.find_java()


def test_a_java_without_the_vector_module_is_refused(make_java: MakeJava) -> None:
    make_java(modules="java.base@{0}")
    with pytest.raises(MachineError, match=r"without the module jdk\.incubator\.vector"):
        machine.find_java()


def test_a_java_that_does_not_start_is_refused(tmp_path: Path) -> None:
    executable = tmp_path / "jdk" / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text("#!/bin/sh\necho cannot allocate memory\nexit 1\n")
    executable.chmod(0o755)
    with pytest.raises(MachineError, match="no working Java, it said: cannot allocate memory"):
        machine.find_java()


def test_too_little_memory_says_what_was_found(make_java: MakeJava, tmp_path: Path) -> None:
    make_java()
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:    3145728 kB\n")
    with pytest.raises(MachineError, match=r"^3\.0 GiB of memory are available; .* need 4 GiB"):
        machine.check_machine(tmp_path)


def test_the_limit_of_a_container_counts(
    make_java: MakeJava, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_java()
    (tmp_path / "memory.max").write_text(f"{5 * 1024**3}\n")
    (tmp_path / "memory.current").write_text(f"{4 * 1024**3}\n")
    (tmp_path / "memory.stat").write_text(f"file 1\ninactive_file {1024**3}\n")
    monkeypatch.setattr(machine, "CGROUP", tmp_path)
    with pytest.raises(MachineError, match=r"^2\.0 GiB of memory are available"):
        machine.check_machine(tmp_path)


def test_too_little_disk_names_the_folder(
    make_java: MakeJava, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_java()
    monkeypatch.setattr(machine, "DISK_BYTES_MIN", 1024**6)
    with pytest.raises(MachineError, match=f"of disk are free in {tmp_path}; a run needs"):
        machine.check_machine(tmp_path / "not" / "yet" / "there")


def test_a_machine_with_everything_passes(make_java: MakeJava, tmp_path: Path) -> None:
    make_java()
    machine.check_machine(tmp_path)
