"""A small Maven repository on a local port, which can be told to misbehave."""

import contextlib
import hashlib
import http.server
import threading
from collections.abc import Iterator

from onceproof.jars.lock import Artifact

CONTENT = bytes(range(256)) * 4000  # about 1 MB: several chunks


class Repository:
    """Serves CONTENT for every path; its switches decide how."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.ranges: list[str] = []
        self.content = CONTENT
        self.cut_after: list[int] = []  # bytes after which each coming answer breaks off
        self.status: int | None = None
        self.ranges_supported = True

    def artifact(self, name: str = "one") -> Artifact:
        return Artifact(
            coordinates=f"org.example:{name}:1.0",
            size=len(CONTENT),
            sha256=hashlib.sha256(CONTENT).hexdigest(),
        )


def _handler(repository: Repository) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            repository.requests.append(self.path)
            if repository.status:
                self.send_error(repository.status)
                return
            start = self._start()
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(repository.content) - start))
            self.end_headers()
            body = repository.content[start:]
            if repository.cut_after:
                body = body[: repository.cut_after.pop(0)]
            self.wfile.write(body)

        def do_HEAD(self) -> None:
            repository.requests.append(f"HEAD {self.path}")
            self.send_response(repository.status or 200)
            self.end_headers()

        def _start(self) -> int:
            wanted = self.headers.get("Range")
            if not wanted:
                return 0
            repository.ranges.append(wanted)
            if not repository.ranges_supported:
                return 0
            return int(wanted.removeprefix("bytes=").removesuffix("-"))

        def log_message(self, *_: object) -> None:
            """Quiet."""

    return Handler


@contextlib.contextmanager
def serving(repository: Repository) -> Iterator[str]:
    """Its address, for as long as it is served."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(repository))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join()
