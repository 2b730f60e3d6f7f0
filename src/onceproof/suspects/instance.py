"""One instance of a suspect: started, killed, paused, restarted, and watched for what it says."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from onceproof.deadline import Deadline
from onceproof.errors import FaultError
from onceproof.history.event import EventLog
from onceproof.process import Child, spawn
from onceproof.suspects.environment import Assignment, for_process
from onceproof.suspects.spare import Spare, Spares
from onceproof.suspects.suspect import Suspect

STOP_S_MAX = 40.0
LOG_TAIL_LINES = 15
NOTES_MAX = 200
NOTE_CHARS_MAX = 400


class Instance:
    """Same number, same state directory, same log over all its restarts."""

    def __init__(
        self,
        number: int,
        suspect: Suspect,
        assignment: Assignment,
        logs: Path,
        events: EventLog,
        *,
        on_start: Callable[[int, int, int], None] = lambda _number, _pid, _start: None,
        spares: Spares | None = None,
    ) -> None:
        """`on_start` is told the number, the pid, and which start it is."""
        self.number = number
        self.starts = 0
        self.transactions = 0
        self.says_started = False  # since its last start
        self.was_up = False  # it has said so, ever
        self.speaks = False  # it has printed a JSON line, ever
        self.complaint = ""  # why it cannot work with the settings it was given
        self._suspect = suspect
        self._assignment = assignment
        self._logs = logs
        self._log = logs / f"instance-{number}.log"
        self._events = events
        self._on_start = on_start
        self._spares = spares
        self._child: Child | None = None
        self._zombie: Child | None = None  # a process that was succeeded while it ran
        self._asked_to_end = False
        self._read_to = 0
        self._notes_left = NOTES_MAX

    @property
    def name(self) -> str:
        return f"instance {self.number}"

    @property
    def log(self) -> Path:
        return self._log

    def on_the_wire(self) -> Mapping[str, int]:
        return {"instance": self.number}

    def as_sender(self) -> Mapping[str, int]:
        return self.on_the_wire()

    def change_settings(self, settings: Mapping[str, str]) -> None:
        """From its next start on; those it has besides stay."""
        self._assignment = replace(
            self._assignment, settings={**self._assignment.settings, **settings}
        )

    def start(self) -> None:
        if self.is_running():
            raise FaultError(f"{self.name} runs already")
        self._spawn()

    def _spawn(self) -> None:
        self._assignment.state_dir(self.number).mkdir(parents=True, exist_ok=True)
        self._asked_to_end = False
        self.says_started = False
        self.starts += 1
        spare = self._spares and self._spares.take(self._suspect.argv, self._assignment)
        self._child = self._from_spare(spare) if spare else self._anew()
        self._on_start(self.number, self._child.pid, self.starts)
        self._events.write("started", self.name, pid=self._child.pid, start=self.starts)
        if spare:
            spare.open_door(self._assignment, self.number)  # known on the wire by now

    def _anew(self) -> Child:
        if self.is_haunted():
            # Two processes at once in one file could not be told apart.
            self._begin_log_of_its_own()
        return spawn(
            self.name,
            self._suspect.argv,
            log=self._log,
            environment=for_process(self._assignment, self.number),
        )

    def _from_spare(self, spare: Spare) -> Child:
        """It brings its own log along, so each start has one."""
        self._begin_log_of_its_own()
        return spare.become(self.name, self._log)

    def _begin_log_of_its_own(self) -> None:
        if self.starts == 1:
            return
        self.listen()
        self._log = self._logs / f"instance-{self.number}-start-{self.starts}.log"
        self._read_to = 0

    def start_successor(self) -> None:
        """Another process takes over, with the same state, while the old one still runs; one whose
        state is locked by the old one begins with none, as on another machine.
        """
        if self.is_haunted():
            raise FaultError(f"{self.name} has been succeeded once, and the old one still runs")
        self._zombie = self._running()
        if self._suspect.locks_state:
            root = self._assignment.state_root / f"start-{self.starts + 1}"
            self._assignment = replace(self._assignment, state_root=root)
        self._spawn()

    def is_haunted(self) -> bool:
        return self._zombie is not None and self._zombie.is_running()

    def end_zombie(self) -> str:
        """How it ended, or that it was ended now."""
        if self._zombie is None:
            return "there is no zombie"
        code = self._zombie.exit_code()
        self._zombie.kill()
        return "it was killed then" if code is None else f"it ended by itself, exit code {code}"

    def is_running(self) -> bool:
        return self._child is not None and self._child.is_running()

    def is_paused(self) -> bool:
        return self._child is not None and self._child.is_paused()

    def kill(self) -> None:
        self._running().kill()
        self._note_end(asked=True)

    def stop(self) -> bool:
        """Ask it to end; False if it had to be killed."""
        self._asked_to_end = True
        clean = self._running().stop(Deadline(STOP_S_MAX))
        self._note_end(asked=True)
        return clean

    def family_pids(self) -> list[int]:
        return [process.pid for process in self._running().family()]

    def pause(self, first: Iterable[int] = ()) -> None:
        self._running().pause(first)

    def resume(self) -> None:
        self._running().resume()

    def end(self) -> None:
        """For the end of a run: make sure that nothing of it is left, however it stands."""
        for child in (self._zombie, self._child):
            if child is not None:
                child.kill()

    def notice_exit(self) -> int | None:
        """The exit code of an instance that ended by itself, told once; None otherwise."""
        if self._child is None or self._asked_to_end:
            return None
        code = self._child.exit_code()
        if code is None:
            return None
        self._child.kill()  # what is left of its family
        self._note_end(asked=False)
        return code

    def last_words(self) -> str:
        """Of its last process: the last line of its log that says anything."""
        lines = self._child.log_tail(LOG_TAIL_LINES).splitlines() if self._child else []
        return next((line.strip() for line in reversed(lines) if line.strip()), "nothing")

    def listen(self) -> None:
        """Take up the JSON lines it has printed since the last time (`{"event": …}`)."""
        if not self._log.exists():
            return
        with self._log.open("rb") as file:
            file.seek(self._read_to)
            for line in file:
                if not line.endswith(b"\n"):
                    break
                self._read_to += len(line)
                if line.startswith(b'{"event"'):
                    self._take(line)
                else:
                    self._note_evidence(line.decode("utf-8", errors="replace").strip())

    def _note_evidence(self, line: str) -> None:
        """What its library says of itself, where that explains what comes out."""
        if any(part in line for part in self._suspect.log_evidence):
            self._note(line)

    def _note(self, text: str) -> None:
        """At most NOTES_MAX of them: the log has them all."""
        if self._notes_left == 0:
            return
        self._notes_left -= 1
        short = text.replace(self._assignment.app_id, "app")
        self._events.write("note", self.name, text=short[:NOTE_CHARS_MAX])

    def _take(self, line: bytes) -> None:
        try:
            said = json.loads(line)
        except ValueError:
            return  # a suspect may print what it likes; only whole JSON lines are taken up
        self.speaks = True
        if said.get("event") == "note":
            self._note(str(said.get("text")))
            return
        if said.get("event") == "committed":
            self.transactions += 1
        if said.get("event") == "misconfigured":
            self.complaint = str(said.get("why", "it does not say why"))
        if said.get("event") == "started":
            self.says_started = self.was_up = True
        self._events.write("said", self.name, **{str(key): value for key, value in said.items()})

    def _running(self) -> Child:
        if self._child is None or not self._child.is_running():
            raise FaultError(f"{self.name} does not run")
        return self._child

    def _note_end(self, *, asked: bool) -> None:
        assert self._child is not None
        self.listen()
        self._asked_to_end = True
        self._events.write(
            "exited",
            self.name,
            code=self._child.exit_code(),
            asked=asked,
            log=f"logs/{self._log.name}",
            tail="" if asked else self._child.log_tail(LOG_TAIL_LINES),
        )
