"""Make requirements/*.txt out of pyproject.toml: every package with its version and hashes.

```
 pyproject.toml ──▶ uv pip compile ──▶ requirements/installer.txt   uv, setuptools, wheel
                                   ├─▶ requirements/lab.txt         what ./onceproof installs
                                   ├─▶ requirements/dev.txt         that, and what the tests need
                                   └─▶ requirements/spark-*.txt     other Sparks, for tests/sparks
```

    .venv/bin/python tools/lock_requirements.py            keep what is locked, add what is new
    .venv/bin/python tools/lock_requirements.py --upgrade  newest of all

One file serves every Python from 3.11 on. No download address is recorded: the index belongs to the
machine, the hashes to us.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
FILES = {
    "installer": ["--group", "installer"],
    "lab": ["pyproject.toml", "--extra", "lab"],
    "dev": ["pyproject.toml", "--extra", "lab", "--extra", "dev"],
    "spark-3.5": ["--group", "spark-3.5"],
    "spark-4.0": ["--group", "spark-4.0"],
}
OPTIONS = [
    "--quiet",
    "--universal",
    "--python-version=3.11",
    "--generate-hashes",
    "--no-emit-index-url",
    "--no-annotate",
    "--custom-compile-command=.venv/bin/python tools/lock_requirements.py",
]


def main(arguments: list[str]) -> int:
    uv = str(Path(sys.executable).with_name("uv"))
    for name, source in FILES.items():
        command = [uv, "pip", "compile", *source, *OPTIONS, *arguments]
        subprocess.run([*command, "-o", f"requirements/{name}.txt"], cwd=ROOT, check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
