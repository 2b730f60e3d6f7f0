"""Gathers the steps of one story; a frame is told once, however often it is come across. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from onceproof.history.fault_record import FaultRecord
from onceproof.report.story import words
from onceproof.report.story.recording import Exchange
from onceproof.report.story.steps import Draft, Step, Story, in_order


class Gathering:
    def __init__(self) -> None:
        self.drafts: list[Draft] = []
        self._notes: list[str] = []
        self._told: set[int] = set()
        self._names: dict[str, str] = {}

    def note(self, told: str) -> None:
        """What is not known, or can be read from the steps only by who knows how."""
        if told not in self._notes:
            self._notes.append(told)

    def exchange(
        self, exchange: Exchange, asked: str, answered: str, weight: int, *, is_sure: bool = True
    ) -> None:
        """A request and its answer: one step in the end, unless something lies between."""
        if not self._is_new(exchange):
            return
        request, response = exchange.request, exchange.response
        client, broker = words.client(request), f"broker {request.broker}"
        done = words.proxied(request)
        if response is None and not done:
            asked += "; no answer is recorded"
        step = Step(
            lane=client,
            to=broker,
            what=asked + done,
            detail=words.detail(request),
            is_sure=is_sure,
            is_fault=request.verdict is not None,
        )
        self.drafts.append(Draft(at_ns=request.at_ns, step=step, weight=weight, asks=exchange))
        if response is None:
            return
        back = replace(
            step,
            lane=broker,
            to=client,
            what=answered + words.proxied(response),
            is_fault=response.verdict is not None,
        )
        self.drafts.append(Draft(at_ns=response.at_ns, step=back, weight=weight, answers=exchange))

    def answer(self, exchange: Exchange, what: str, weight: int, *, is_sure: bool = True) -> None:
        """An exchange of which only the answer says something."""
        response = exchange.response
        if response is None or not self._is_new(exchange):
            return
        step = Step(
            lane=f"broker {response.broker}",
            to=words.client(response),
            what=what + words.proxied(response),
            detail=words.detail(response),
            is_sure=is_sure,
            is_fault=response.verdict is not None,
        )
        self.drafts.append(Draft(at_ns=response.at_ns, step=step, weight=weight))

    def single(self, draft: Draft) -> None:
        """What is no frame; two batches of one transaction have the same marker."""
        if all(each.step.what != draft.step.what for each in self.drafts):
            self.drafts.append(draft)

    def story(
        self, topics: Iterable[str], faults: Sequence[FaultRecord], began_ns: int
    ) -> Story | None:
        """None where nothing was found."""
        if not self.drafts:
            return None
        steps, left_out = in_order(self.drafts, faults, began_ns)
        if left_out:
            self.note(f"{left_out} more steps are left out.")
        shortened = {words.topic_name(topic): topic for topic in sorted(topics)}
        own = {name: topic for name, topic in shortened.items() if name != topic}
        return Story(steps=steps, notes=tuple(self._notes), names={**own, **self._names})

    def _is_new(self, exchange: Exchange) -> bool:
        request = exchange.request
        if request.transactional_id is not None and words.has_producer(request):
            self._names[f"producer {request.producer_id}"] = request.transactional_id
        is_new = id(exchange) not in self._told
        self._told.add(id(exchange))
        return is_new
