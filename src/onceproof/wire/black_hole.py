"""An address behind which nobody is: whoever connects hears nothing, not even a refusal.

    client ──SYN──▶ a listening socket whose queue is full ──▶ dropped by the kernel, no answer

So a machine that is off the network looks from outside; a process that has ended is refused at
once.
"""

import contextlib
import socket

from onceproof.errors import OnceproofError

FILL_S = 0.1
FILLERS_MAX = 8


class BlackHole:
    """Takes the port when it is made. `close` it to give the port back."""

    def __init__(self, host: str, port: int) -> None:
        self._listening = socket.create_server((host, port), backlog=0)
        self._fillers: list[socket.socket] = []
        while self._answers(host, port):
            if len(self._fillers) > FILLERS_MAX:
                self.close()
                raise OnceproofError(f"port {port} still answers with {FILLERS_MAX} in its queue")

    def close(self) -> None:
        for filler in self._fillers:
            filler.close()
        self._listening.close()

    def _answers(self, host: str, port: int) -> bool:
        """Whether one more was taken into the queue; it stays there."""
        filler = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._fillers.append(filler)
        filler.settimeout(FILL_S)
        with contextlib.suppress(TimeoutError):
            filler.connect((host, port))
            return True
        return False
