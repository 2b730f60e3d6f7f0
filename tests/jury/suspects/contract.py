"""The contract of a suspect: settings from the environment, JSON lines, SIGTERM.

The work runs in a thread; the main thread takes signals and watches. librdkafka may never return
from send_offsets_to_transaction when the group's coordinator goes, whatever its timeout (librdkafka
#5456, #5511). Only a new process image gets out of that: same pid, same transactional id, so it
fences what it was, and nothing is lost.
"""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

CALL_S = 10.0
# Still less than the 20 s a suspect has between SIGTERM and SIGKILL.
CALL_S_HOPELESS = 15.0


class Stop:
    """Asked for by SIGTERM."""

    asked = False

    def ask(self, *_: object) -> None:
        self.asked = True


stop = Stop()


class Watch:
    """Since when the work is inside a call of the client that must return within CALL_S."""

    _began_at: float | None = None

    @contextmanager
    def call(self) -> Iterator[None]:
        self._began_at = time.monotonic()
        try:
            yield
        finally:
            self._began_at = None

    def is_hopeless(self) -> bool:
        began_at = self._began_at
        return began_at is not None and time.monotonic() - began_at > CALL_S_HOPELESS


watch = Watch()


def setting(name: str) -> str:
    return os.environ[f"ONCEPROOF_{name}"]


def client_settings() -> dict[str, Any]:
    return {
        "bootstrap.servers": setting("BOOTSTRAP_SERVERS"),
        "socket.timeout.ms": 10_000,
        "reconnect.backoff.max.ms": 1_000,
    }


def say(event: str, **detail: Any) -> None:
    sys.stdout.write(json.dumps({"event": event, **detail}) + "\n")
    sys.stdout.flush()


def run_until_stopped(work: Callable[[], None]) -> None:
    """Exits with 1 if the work ends without having been asked to."""
    signal.signal(signal.SIGTERM, stop.ask)
    say("started", instance=setting("INSTANCE"))
    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    while worker.is_alive() and not watch.is_hopeless():
        worker.join(0.1)
    if not worker.is_alive() and not stop.asked:
        sys.exit(1)
    if worker.is_alive() and not stop.asked:
        sys.stderr.write("a call of the client does not return: beginning anew\n")
        os.execv(sys.executable, sys.orig_argv)
    say("stopped")
    sys.stderr.flush()
    # A call that does not return would hold up the interpreter's own end as well.
    os._exit(0)
