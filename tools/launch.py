"""What ./onceproof runs: make .venv, install the locked packages, hand over. As mvnw does.

```
 requirements/*.txt ──▶ stamp in .venv the same? ──yes──▶ exec .venv/bin/python -m onceproof …
                               │ no
                               └──▶ venv ──▶ pip installs uv ──▶ uv installs the lock ──▶ stamp
```

Standard library only. Invariant: the stamp is written last, so what is interrupted is done again.
ONCEPROOF_SETUP_ONLY=lab (or dev: also what the tests need) sets up and stops.
"""
# pathlib and its imports would double the time this takes when all is in place.
# ruff: noqa: PTH103, PTH105, PTH107, PTH110, PTH118, PTH120

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # typing itself is not imported: it takes as long as all the rest
if TYPE_CHECKING:
    import subprocess
    from typing import NoReturn

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
VENV = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(VENV, "bin", "python")
LOG = os.path.join(VENV, "setup.log")
SETUP_VARIABLE = "ONCEPROOF_SETUP_ONLY"
PROFILES = ["lab", "dev"]  # each holds all of the one before
FAILED = 255
NO_NETWORK = ["NewConnectionError", "ConnectTimeout", "ProxyError", "dns error", "resolve host"]
# pip's settings that uv has under another name; where uv fails all the same, pip itself takes over.
UV_NAMES = {"index-url": "UV_DEFAULT_INDEX", "extra-index-url": "UV_INDEX", "cert": "SSL_CERT_FILE"}


def main() -> None:
    setup_only = os.environ.get(SETUP_VARIABLE)
    profile = setup_only or PROFILES[0]
    if profile not in PROFILES:
        fail(f"{SETUP_VARIABLE} is {profile!r}; known: {', '.join(PROFILES)}")
    if not is_ready(profile):
        set_up_alone(profile)
    if not setup_only:
        # -P: a file in the user's folder must not stand in for a module of ours.
        os.execv(PYTHON, [PYTHON, "-P", "-m", "onceproof", *sys.argv[1:]])


def is_ready(profile: str) -> bool:
    """Whole text against whole text: cheaper than to import a hash, and never wrong."""
    try:
        return os.access(PYTHON, os.X_OK) and read(stamp(profile)) == wanted(profile)
    except OSError:
        return False


def wanted(profile: str) -> str:
    """All that decides what .venv must hold. A venv cannot be moved, so its place belongs to it."""
    files = ["requirements/installer.txt", f"requirements/{profile}.txt", "pyproject.toml"]
    return "\n".join([ROOT, *(read(os.path.join(ROOT, file)) for file in files)])


def read(file: str) -> str:
    with open(file, encoding="utf-8") as content:
        return content.read()


def stamp(profile: str) -> str:
    return os.path.join(VENV, "ready-" + profile)


def set_up_alone(profile: str) -> None:
    """One at a time. The children inherit the lock, so an orphaned installer still holds it."""
    import fcntl

    lock = os.open(ROOT, os.O_RDONLY)
    os.set_inheritable(lock, True)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another set-up of this folder is at work; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_ready(profile):
            set_up(profile)
    except KeyboardInterrupt:
        fail("set-up interrupted; run it again to go on")
    except OSError as error:
        fail(f"set-up failed: {error}")
    finally:
        os.close(lock)


def set_up(profile: str) -> None:
    say(f"setting up {VENV}; the first time takes a minute or two")
    make_venv()
    forget_stamps()
    lock = os.path.join(ROOT, "requirements", profile + ".txt")
    if install_by_uv(lock) or install_by_pip(lock):
        for done in PROFILES[: PROFILES.index(profile) + 1]:
            with open(stamp(done) + ".part", "w", encoding="utf-8") as file:
                file.write(wanted(done))
            os.replace(stamp(done) + ".part", stamp(done))
        return
    fail(f"packages could not be installed: {reason()}; whole log: {LOG}")


def make_venv() -> None:
    """Keep a finished one, for its packages; make anew what is half, moved or broken."""
    import shutil

    finished = [profile for profile in PROFILES if os.path.exists(stamp(profile))]
    if finished and read(stamp(finished[0])).startswith(ROOT + "\n") and os.access(PYTHON, os.X_OK):
        return
    shutil.rmtree(VENV, ignore_errors=True)
    os.makedirs(VENV)
    if not step("making .venv", [base_python(), "-m", "venv", VENV]):
        fail(f"this Python cannot make a venv; Debian's package: python3-venv; log: {LOG}")


def base_python() -> str:
    """Not the venv's own, which may be the one that runs this and is about to be replaced."""
    return getattr(sys, "_base_executable", None) or sys.executable


def forget_stamps() -> None:
    for profile in PROFILES:
        if os.path.exists(stamp(profile)):
            os.remove(stamp(profile))


def install_by_uv(lock: str) -> bool:
    """Faster than pip, most of all with a warm cache: it links files where pip unpacks them."""
    installer = os.path.join(ROOT, "requirements", "installer.txt")
    if not step("installing uv", pip("install", "--require-hashes", "-r", installer)):
        return False
    uv = [os.path.join(VENV, "bin", "uv"), "pip", "install", "--python", PYTHON]
    # The installer's own setuptools builds pyspark and us: nothing unlocked is fetched.
    uv += ["--no-build-isolation", "--no-deps", "--no-progress"]
    if sys.dont_write_bytecode:
        # Nobody will compile them as they are used: each process would, each time, for seconds.
        uv += ["--compile-bytecode"]
    settings = uv_settings()
    return step("installing packages", [*uv, "--require-hashes", "-r", lock], settings) and step(
        "installing onceproof", [*uv, "--editable", ROOT], settings
    )


def install_by_pip(lock: str) -> bool:
    if any(sign in read(LOG) for sign in NO_NETWORK):
        return False
    return step(
        "installing packages by pip", pip("install", "--require-hashes", "--no-deps", "-r", lock)
    ) and step("installing onceproof", pip("install", "--no-deps", "--editable", ROOT))


def pip(*arguments: str) -> list[str]:
    return [PYTHON, "-m", "pip", "--disable-pip-version-check", "--retries", "2", *arguments]


def uv_settings() -> dict[str, str]:
    """pip's own settings (its files and PIP_…) for uv; what the user set for uv goes first."""
    import subprocess

    listed = subprocess.run(pip("config", "list"), stdout=subprocess.PIPE, check=False).stdout
    settings = {}
    for line in listed.decode().splitlines():
        name, _, value = line.partition("=")
        uv_name = UV_NAMES.get(name.rpartition(".")[2])
        if uv_name:
            settings[uv_name] = value.strip("'\"")
    return {"UV_LINK_MODE": "hardlink", **settings, **os.environ}


def step(what: str, command: list[str], environment: dict[str, str] | None = None) -> bool:
    """Run one command, its words into the log. True if it went well."""
    import subprocess

    with open(LOG, "ab") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
            close_fds=False,
        )
    try:
        wait(process, what)
    except KeyboardInterrupt:
        process.kill()
        process.wait()
        raise
    return process.returncode == 0


def wait(process: subprocess.Popen[bytes], what: str) -> None:
    """On a terminal a line counts the seconds; elsewhere one line is enough."""
    import contextlib
    import subprocess
    import time

    live = sys.stderr.isatty()
    if not live:
        say(what)
    started = time.monotonic()
    while process.returncode is None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.5)
        if live:
            sys.stderr.write(f"\ronceproof: {what} … {time.monotonic() - started:.0f} s")
            sys.stderr.flush()
    if live:
        sys.stderr.write("\n")


def reason() -> str:
    """The installer's last word, or the plain truth where that word would mislead."""
    log = read(LOG)
    if any(sign in log for sign in NO_NETWORK):
        return "no connection to the package index; check the network or proxy, then run again"
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return (errors or lines or ["the installer said nothing"])[-1]


def say(text: str) -> None:
    sys.stderr.write(f"onceproof: {text}\n")


def fail(text: str) -> NoReturn:
    say(text)
    sys.exit(FAILED)


if __name__ == "__main__":
    main()
