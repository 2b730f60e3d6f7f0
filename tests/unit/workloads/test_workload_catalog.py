"""The catalog of workloads: complete, and quick to list."""

import subprocess
import sys
from pathlib import Path

import pytest

from onceproof import workloads
from onceproof.errors import UsageError
from onceproof.workloads.catalog import WORKLOADS, workload_named


def test_each_name_is_the_name_of_a_file_beside_the_catalog() -> None:
    folder = Path(workloads.__file__).parent
    for name, workload in WORKLOADS.items():
        assert workload.name == name
        assert (folder / f"{name}.py").exists()


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"unknown workload 'cp'; known: copy, dedup, fold, last"):
        workload_named("cp")


def test_listing_workloads_and_checks_does_not_import_pyspark() -> None:
    command = (
        "import sys\n"
        "from onceproof.checks.catalog import CHECKS\n"
        "from onceproof.workloads.catalog import WORKLOADS\n"
        "sys.exit('pyspark' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", command], check=False).returncode == 0
