"""What is to become of a frame. Pure data; link.py carries it out."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pass:
    """Forwarded at once."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Forwarded later; what comes behind it on its connection waits as well, as with TCP."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Hold:
    """Kept until released by name. It outlives its client: released, it goes to the broker."""

    by: str
    cut_client: bool = False  # its client is disconnected at once, and will try again elsewhere


@dataclass(frozen=True, slots=True)
class Drop:
    """Never forwarded; whoever waits for it waits for its own timeout."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The client is given this instead; the broker never sees the request."""

    error_code: int


@dataclass(frozen=True, slots=True)
class Disconnect:
    """Both ends of the connection are closed, the frame is lost."""


Verdict = Pass | Wait | Hold | Drop | Answer | Disconnect
PASS = Pass()
