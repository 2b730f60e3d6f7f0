"""What an action can be done to: an instance of the suspect, or a broker. Both are process
families.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol


class Victim(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def log(self) -> Path:
        """Where what it prints goes."""
        ...

    def family_pids(self) -> list[int]: ...

    def on_the_wire(self) -> Mapping[str, Any]:
        """How a rule of the proxy tells its frames: fields of a match."""
        ...

    def as_sender(self) -> Mapping[str, Any]:
        """Likewise, of the requests that it sends itself, and of their responses."""
        ...

    def kill(self) -> None: ...

    def stop(self) -> bool: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def start(self) -> None: ...

    def is_running(self) -> bool: ...

    def is_paused(self) -> bool: ...
