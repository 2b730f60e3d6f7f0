"""Carries out one step of the schedule: await its moment, choose a victim, aim, inject, heal."""

from dataclasses import dataclass, replace

from onceproof.cluster.broker import Broker
from onceproof.deadline import Deadline
from onceproof.errors import FaultError, OnceproofError
from onceproof.faults.catalog import make_fault
from onceproof.faults.fault import Fault
from onceproof.faults.network import NetworkFault
from onceproof.faults.schedule import Step
from onceproof.faults.victim import Victim
from onceproof.history.fault_record import FaultRecord
from onceproof.suspects.instance import Instance
from onceproof.trial.drain import feed_s_max
from onceproof.trial.feed import Feed
from onceproof.trial.moments.aiming import Aiming, Held
from onceproof.trial.moments.moment import Moments
from onceproof.trial.stage import Stage
from onceproof.trial.watch import Watch

PAUSE = "pause"
BACK_S_MAX = 60.0
MEET_S_MAX = 20.0


@dataclass(frozen=True, kw_only=True)
class Injected:
    """A fault in force; `place` is that of its record."""

    step: Step
    action: str
    fault: Fault
    victim: Victim
    target: str
    place: int
    held: Held | None


class Striker:
    """For one iteration. A step that cannot be applied is recorded as that, and does not count."""

    def __init__(
        self, stage: Stage, watch: Watch, feed: Feed, iteration: int, records: list[FaultRecord]
    ) -> None:
        self.records = records
        self._stage = stage
        self._watch = watch
        self._feed = feed
        self._iteration = iteration
        self.moments = Moments(watch, feed, feed_s_max(stage, feed))
        self._aiming = Aiming(stage, watch, self.moments.is_over)
        self._last_victim: Victim | None = None
        self._in_force: list[Injected] = []  # to be healed after the step that follows them

    def strike(self, step: Step, *, is_last: bool = False) -> None:
        """Carry the step out; what became of it stands in `records`, whatever happens after.

        The iteration's last one lets the rest of its input go when it is due.
        """
        try:
            injected = self._inject(step, is_last=is_last)
            if injected is not None and step.through_next:
                self._in_force.append(injected)
                return
            if injected is not None:
                self._end(injected)
                self._last_victim = injected.victim
        except KeyboardInterrupt:
            raise  # everything is being ended: nothing is to be healed
        except BaseException:
            self.heal_all(at_once=True)
            raise
        if not step.through_next:
            self.heal_all()

    def heal_all(self, *, at_once: bool = False) -> None:
        """What is still in force, the last one first."""
        while self._in_force:
            self._end(self._in_force.pop(), at_once=at_once)

    def _inject(self, step: Step, *, is_last: bool) -> Injected | None:
        """None: it could not be applied, and is recorded as that."""
        action = self._stage.random.choice(step.actions)
        at_s = self._stage.events.now_s()
        target, victim, held, ran = step.target, None, None, True
        try:
            self.moments.wait_for(step.at, self._last_victim)
            let_go = self._feed.release() if is_last else 0
            victim, target = self._stage.field().resolve(step.target)
            ran = victim.is_running()
            window = self.moments.require_work(step.at)
            held, aimed = self._aiming.aim(step, victim, action)
            fault = make_fault(action, victim, self._stage.means(step))
            self._watch.away.add(victim.name)
            if step.settings and isinstance(victim, Instance):
                victim.change_settings(step.settings)
            at_s = self._stage.events.now_s()
            came = f"{let_go} records were held back for it" if let_go else ""
            evidence = "; ".join(filter(None, (fault.inject(), aimed, window, came)))
            if held is not None:
                held.let_go(is_back=False)
        except OnceproofError as problem:
            self._record(action, target, at_s, applied=False, evidence=str(problem))
            if held is not None:
                held.abandon()
            self._bring_back(victim if ran else None)
            return None
        self._record(action, target, at_s, applied=True, evidence=evidence)
        return Injected(
            step=step,
            action=action,
            fault=fault,
            victim=victim,
            target=target,
            place=len(self.records) - 1,
            held=held,
        )

    def _end(self, injected: Injected, *, at_once: bool = False) -> None:
        """When its time has passed, heal it."""
        try:
            if not at_once:
                self._pass(injected.step.heal_after_s)
                self._await_met(injected.fault)
        except KeyboardInterrupt:
            raise  # everything is being ended: nothing is to be started again
        except BaseException:
            self._heal(injected)
            raise
        self._heal(injected)
        if injected.held is not None:
            self._let_go(injected, injected.held)

    def _await_met(self, fault: Fault) -> None:
        """A bad network that nobody has met yet lasts a little longer: a suspect that is slow to
        start on a busy machine may not have spoken. If it never does, the fault did not apply.
        """
        if isinstance(fault, NetworkFault):
            waited = Deadline(MEET_S_MAX)
            over = "a fault on the network does not end"
            self._watch.until(
                lambda: waited.expired() or fault.has_met(), Deadline(MEET_S_MAX + 1), over
            )

    def _heal(self, injected: Injected) -> None:
        fault, victim, target = injected.fault, injected.victim, injected.target
        fault.heal()
        if isinstance(victim, Broker):
            victim.wait_ready(Deadline(BACK_S_MAX), self._watch.glance)
        if not fault.is_healed():
            self._watch.until(
                fault.is_healed,
                Deadline(BACK_S_MAX),
                f"{target} is not back after {injected.action}",
            )
        self._watch.away.discard(victim.name)
        self._stage.events.write("healed", target, action=injected.action)
        self.records[injected.place] = replace(
            self._after(fault, self.records[injected.place]),
            healed_at_s=self._stage.events.now_s(),
        )

    def _let_go(self, injected: Injected, held: Held) -> None:
        """The victim is back, and what it had sent before may go on its way."""
        victim, place = injected.victim, injected.place
        try:
            if held.is_late and injected.action != PAUSE and isinstance(victim, Instance):
                self._await_successor(victim)
            held.let_go(is_back=True)
        except OnceproofError as problem:
            self.records[place] = replace(self.records[place], applied=False, evidence=str(problem))
            held.abandon()

    def _await_successor(self, victim: Instance) -> None:
        """The new process has been answered by a broker, and says that it has started, if it
        ever says anything. FaultError: nobody is there to be disturbed by the old one's frame.
        """
        if not self._stage.wire.await_answered(victim.number, victim.starts, Deadline(BACK_S_MAX)):
            raise FaultError(f"{victim.name} was started again and spoke to no broker")
        self.moments.wait_for_recovery(victim)
        if victim.speaks and not victim.says_started:
            raise FaultError(f"{victim.name} was started again and did not say so")

    def _after(self, fault: Fault, record: FaultRecord) -> FaultRecord:
        """Some faults know only in the end whether they met anything."""
        try:
            outcome = fault.outcome()
        except FaultError as nothing:
            return replace(record, applied=False, evidence=str(nothing))
        return replace(record, evidence="; ".join(filter(None, (record.evidence, outcome))))

    def _bring_back(self, victim: Victim | None) -> None:
        """After a step that failed half way its victim goes on as if nothing had been tried."""
        if victim is None:
            return
        if not victim.is_running():
            victim.start()
        elif victim.is_paused():
            victim.resume()
        self._watch.away.discard(victim.name)

    def _pass(self, seconds: float) -> None:
        over = Deadline(seconds)
        self._watch.until(over.expired, Deadline(seconds + 1), "time does not pass")

    def _record(
        self, action: str, target: str, at_s: float, *, applied: bool, evidence: str
    ) -> None:
        self._stage.events.write("fault", target, action=action, applied=applied, evidence=evidence)
        self.records.append(
            FaultRecord(
                action=action,
                target=target,
                at_s=at_s,
                applied=applied,
                evidence=evidence,
                iteration=self._iteration,
            )
        )
