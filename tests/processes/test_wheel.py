"""What a user installs or ships is whole."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from onceproof.sink.jvm.program import SOURCES

ROOT = Path(__file__).parents[2]
NEEDED = ("pyproject.toml", "README.md", "LICENSE")


def test_the_wheel_brings_the_sinks_java(tmp_path: Path) -> None:
    """Spark compiles it at run time; without it rows would go through Python, and nobody notice."""
    made_elsewhere = shutil.ignore_patterns("*.egg-info", "__pycache__")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=made_elsewhere)
    for name in NEEDED:
        shutil.copy(ROOT / name, tmp_path)
    subprocess.run(
        [sys.executable, "-m", "uv", "build", "--wheel", "--no-build-isolation", "--offline"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        assert {f"onceproof/sink/jvm/{source}" for source in SOURCES} <= set(packed.namelist())
