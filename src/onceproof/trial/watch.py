"""The one loop of a trial: every wait goes through here, so that nothing that happens is missed.

Each turn listens to the instances, notices those that ended by themselves, and now and then takes a
sample of how far everything is.
"""

import signal
from collections.abc import Callable
from dataclasses import dataclass, field

from onceproof.cluster import topics
from onceproof.deadline import Deadline, pause
from onceproof.errors import ClusterError, DeadlineExpired, UsageError
from onceproof.suspects.instance import Instance
from onceproof.trial.positions import position_of
from onceproof.trial.stage import Stage

SAMPLE_EVERY_S = 0.5
TURN_S = 0.05


class SuspectDied(Exception):
    """An instance ended by itself: there is nothing more to wait for. Judged as `died`."""


class NeverUp(Exception):
    """An instance of ours ended before it was ever up: nothing has been on trial. Like the others
    here it is no OnceproofError: those tell of a fault that could not be applied.
    """


class EarlyFinding(Exception):
    """The live validator has found something: the run can stop here."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """How far the run is. Offsets by partition; position None: not known."""

    input: dict[int, int] = field(default_factory=dict)
    output: dict[int, int] = field(default_factory=dict)
    position: dict[int, int] | None = None

    @property
    def fed(self) -> int:
        return sum(self.input.values())

    @property
    def written(self) -> int:
        return sum(self.output.values())

    @property
    def processed(self) -> int:
        """Input records behind the position; without one, what the output lets one suppose."""
        if self.position is None:
            return min(self.written, self.fed)
        return sum(self.position.values())

    @property
    def remaining(self) -> int:
        """Without a position only a suspect that has written nothing is known to be behind."""
        if self.position is None:
            return self.fed if self.written == 0 else 0
        return self.fed - self.processed

    def caught_up(self) -> bool:
        """Every record fed so far is behind the suspect's position."""
        position = self.position or {}
        return all(position.get(partition, 0) >= end for partition, end in self.input.items())


def _told(instance: Instance, code: int) -> str:
    if code == -signal.SIGKILL:
        return f"{instance.name} was killed, and not by us: by the kernel, for want of memory?"
    return f"{instance.name} ended by itself with exit code {code}"


class Watch:
    def __init__(self, stage: Stage, early_finding: Callable[[], bool] = lambda: False) -> None:
        self._stage = stage
        self._early_finding = early_finding
        self._sampled = Deadline(0)
        self.last = Sample()
        self.away: set[str] = set()  # brokers that a fault has taken away: not to be missed

    def until(self, condition: Callable[[], bool], deadline: Deadline, message: str) -> None:
        """Wait for the condition, watching; DeadlineExpired with the message otherwise."""
        while True:
            self.turn()
            if condition():
                return
            if deadline.expired():
                raise DeadlineExpired(f"{message} (waited {deadline.seconds:.0f} s)")
            pause(TURN_S)

    def turn(self) -> None:
        for instance in self._stage.instances:
            instance.listen()
            code = instance.notice_exit()
            if instance.complaint:
                raise UsageError(f"{instance.name} refuses its settings: {instance.complaint}")
            if code is not None:
                self._require_was_up(instance, code)
                raise SuspectDied(_told(instance, code))
        for broker in self._stage.brokers.values():
            if broker.name not in self.away:
                broker.require_alive()
        self._stage.ground.require_alive()
        if self._early_finding():
            raise EarlyFinding
        self._sample_if_due()

    def glance(self) -> None:
        """Where another wait goes on: nothing is missed, and nobody is alarmed."""
        for instance in self._stage.instances:
            instance.listen()
        self._sample_if_due()

    def _sample_if_due(self) -> None:
        if self._sampled.expired():
            self.sample()
            self._sampled = Deadline(SAMPLE_EVERY_S)

    def _require_was_up(self, instance: Instance, code: int) -> None:
        """A suspect of ours that cannot even start has not been on trial; of the user's own
        program that is not known: it may say nothing.
        """
        is_ours = self._stage.plan.suspect.settings is not None
        if is_ours and instance.starts == 1 and not instance.was_up:
            raise NeverUp(
                f"{instance.name} could not be started: exit code {code}; its last words:"
                f" {instance.last_words()}; see logs/{instance.log.name}"
            )

    def sample(self) -> bool:
        """Take a fresh sample and write it down; False while brokers are away: the last stands."""
        stage, before = self._stage, self.last
        try:
            position = self.position()
            self.last = Sample(
                input=topics.end_offsets(stage.client, stage.input_topic),
                output=topics.end_offsets(stage.client, stage.output_topic),
                position=position,
            )
        except ClusterError:
            return False
        if before.position and position and self.last.processed < before.processed:
            told = f"it went back from {before.processed} to {self.last.processed}"
            stage.events.write("note", "committed position", text=told)
        stage.events.write(
            "progress",
            input=self.last.fed,
            output=self.last.written,
            position=self.last.processed,
            remaining=self.last.remaining,
            transactions=sum(instance.transactions for instance in stage.instances),
        )
        return True

    def position(self) -> dict[int, int] | None:
        """Where the suspect's own records say it is; it declares where those are kept."""
        return position_of(self._stage)
