"""Where a run keeps everything: `runs/<scenario>/<utc>-s<seed>/`. Movable: nothing in it points
outside.

verdict.json   run.json   report.html   report.txt
history/events.jsonl   history/input/  history/output/  history/batches/  history/wire/  (Parquet)
logs/broker-1.log  logs/instance-0.log  …
state/         what the suspect keeps between restarts
"""

import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from onceproof.errors import UsageError


@dataclass(frozen=True)
class RunDirectory:
    path: Path

    @staticmethod
    def create(runs_dir: Path, scenario: str, seed: int) -> "RunDirectory":
        """A new, empty run directory; `runs/latest` points at it from now on."""
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        parent = runs_dir / scenario
        parent.mkdir(parents=True, exist_ok=True)
        path = _first_free(parent, f"{stamp}-s{seed}")
        directory = RunDirectory(path)
        for folder in (directory.logs, directory.history, directory.state):
            folder.mkdir()
        _point(runs_dir / "latest", path)
        return directory

    @property
    def verdict_json(self) -> Path:
        return self.path / "verdict.json"

    @property
    def run_json(self) -> Path:
        return self.path / "run.json"

    @property
    def report_html(self) -> Path:
        return self.path / "report.html"

    @property
    def report_txt(self) -> Path:
        return self.path / "report.txt"

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def history(self) -> Path:
        return self.path / "history"

    @property
    def state(self) -> Path:
        return self.path / "state"

    @property
    def wire(self) -> Path:
        return self.history / "wire"

    @property
    def events(self) -> Path:
        return self.history / "events.jsonl"


def ensure_runs_dir(runs_dir: Path) -> None:
    try:
        runs_dir.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=runs_dir):  # it may be there, and not for us to write in
            pass
    except OSError as error:
        raise UsageError(f"--runs-dir {runs_dir} cannot be used: {error}") from error


def _first_free(parent: Path, name: str) -> Path:
    """Two runs may start in the same second: mkdir decides who gets the plain name."""
    for attempt in range(1, 1000):
        path = parent / (name if attempt == 1 else f"{name}-{attempt}")
        try:
            path.mkdir()
            return path
        except FileExistsError:
            continue
    raise FileExistsError(f"{parent / name} and 999 successors exist")


def _point(link: Path, target: Path) -> None:
    """Make `link` lead to `target` in one step, so that a reader never finds it missing."""
    fresh = link.with_name(f".latest-{os.getpid()}")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(os.path.relpath(target, link.parent))
    fresh.replace(link)
