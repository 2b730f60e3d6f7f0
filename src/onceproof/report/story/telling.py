"""Tells the story of one witness: which frames it needs, in the record's own order. Pure.

Told out of what was recorded, and of nothing else: where more than one frame fits, a step says
"may", and what is not known is a note.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from onceproof.history.fault_record import FaultRecord
from onceproof.report.story import tracing, words
from onceproof.report.story.gathering import Gathering
from onceproof.report.story.recording import FRAMES_MAX, Batch, Exchange, Frame, Recording
from onceproof.report.story.steps import LOG_LANE, Draft, Step, Story
from onceproof.report.story.subject import Subject
from onceproof.report.story.tracing import NEVER_NS, Fetched, LogPlace

PRODUCES_MAX = 3
FETCHES_MAX = 3
PLAIN = "OffsetCommit"
TOO_LONG = (
    f"The recording has more than {FRAMES_MAX:,} frames, which is more than a report reads:"
    " see history/wire."
)
# What is left out first where a story has too many steps: the lightest.
ESSENTIAL, HELPFUL = 3, 2


def tell_story(
    facts: Mapping[str, Any], recording: Recording, faults: Sequence[FaultRecord], began_ns: int
) -> Story | None:
    """`facts` of a witness; None where it names no record, or nothing of it was recorded."""
    subject = Subject.of(facts)
    if recording.is_too_long and subject.is_known:
        return Story(steps=(), notes=(TOO_LONG,))
    gathered = Gathering()
    teller = _Teller(recording, subject, gathered)
    if subject.outputs:
        teller.tell_outputs()
    elif subject.input is not None:
        teller.tell_lost()
    topics = {place.topic for place in (subject.input, *subject.outputs) if place is not None}
    return gathered.story(topics, faults, began_ns)


class _Teller:
    """Goes after one record, from frame to frame."""

    def __init__(self, recording: Recording, subject: Subject, gathered: Gathering) -> None:
        self._recording = recording
        self._subject = subject
        self._input = subject.input
        self._gathered = gathered
        self._fetches = (
            []
            if self._input is None
            else tracing.fetches_of(recording, self._input.topic, self._input.partition)
        )

    def tell_outputs(self) -> None:
        """1. who wrote each 2. what had been fetched 3. the transaction's end 4. the position."""
        writings = []
        for place in self._subject.outputs:
            writing = tracing.written_by(self._recording, place)
            if writing is None:
                self._gathered.note(f"The Produce that wrote {words.short(place)} is not recorded.")
                self._marker(place, None, 0)
            else:
                writings.append((writing, place))
        writings.sort(key=lambda pair: pair[0].at_ns)
        if self._input is None:
            self._gathered.note("Which input it comes from is not known.")
        since_ns, fetched = 0, None
        for rank, (writing, place) in enumerate(writings):
            self._writing(writing, place)
            until_ns = writings[rank + 1][0].at_ns if rank + 1 < len(writings) else NEVER_NS
            again = self._reading(writing.request, since_ns, writing.at_ns)
            if fetched is not None and again is fetched and self._brought(fetched):
                self._gathered.note(
                    "Both were written after the same Fetch: it was not read again."
                )
            fetched = again
            self._position(writing, fetched, until_ns)
            since_ns = writing.at_ns

    def _writing(self, writing: Exchange, place: LogPlace) -> None:
        for attempt in tracing.attempts_before(self._recording, writing):
            self._gathered.exchange(
                attempt, words.produce(attempt, place), words.outcome(attempt), HELPFUL
            )
        self._gathered.exchange(
            writing, words.produce(writing, place), words.written(writing, place), ESSENTIAL
        )
        self._ending(writing, place)

    def _ending(self, exchange: Exchange, place: LogPlace | None) -> None:
        """How the transaction it belongs to ended: asked for, taken over, or neither."""
        member = exchange.request
        if member.transactional_id is None:
            return
        ends = tracing.ends_of(self._recording, member)
        for end in ends:
            self._gathered.exchange(end, words.end_txn(end.request), words.outcome(end), ESSENTIAL)
        until_ns = max((end.answered_ns for end in ends), default=NEVER_NS)
        is_done = any(end.error_code == 0 for end in ends)
        # One that ended well has no use for a successor; one that did not is ended by it.
        successors = tracing.successors_of(
            self._recording, member, until_ns if is_done else NEVER_NS
        )
        for successor in successors:
            self._gathered.exchange(successor, successor.api, words.begun(successor), HELPFUL)
        if not ends and not successors:
            self._gathered.note(
                f"No EndTxn of {words.producer(member)} is recorded after it, and no successor:"
                " only the coordinator's timeout ends such a transaction."
            )
        if place is not None:
            last_ns = max(each.answered_ns for each in (exchange, *ends, *successors))
            self._marker(place, member, last_ns)

    def _marker(self, place: LogPlace, member: Frame | None, at_ns: int) -> None:
        """The log says that there is a marker; only brokers' own connections say when."""
        batch = self._recording.batch_at(place.partition, place.offset)
        if batch is None or batch.outcome == "NONE":
            return
        request = None
        if member is not None:
            request = tracing.marker_request(
                self._recording, member, place, committed=batch.outcome == "COMMITTED"
            )
        lane = LOG_LANE if member is None else f"broker {member.broker}"
        self._gathered.single(
            Draft(
                at_ns=at_ns if request is None else request.at_ns,
                step=Step(lane=lane, what=words.marker(batch, place)),
                weight=ESSENTIAL,
                is_timed=request is not None,
            )
        )

    def _reading(self, reader: Frame, since_ns: int, before_ns: int) -> Fetched | None:
        if self._input is None:
            return None
        offset = self._input.offset
        fetched = tracing.fetched_before(self._fetches, offset, reader, before_ns)
        if fetched is None:
            self._gathered.note(
                f"No Fetch that brought {words.short(self._input)} to {words.client(reader)}"
                " before it wrote is recorded."
            )
            return None
        self._fetch(fetched)
        if since_ns:
            self._begun_at(reader, (since_ns, fetched.answered_ns))
        return fetched

    def _brought(self, fetched: Fetched) -> bool:
        return self._input is not None and fetched.carries(self._input.offset) is True

    def _fetch(self, fetched: Fetched, weight: int = ESSENTIAL) -> None:
        assert self._input is not None
        what = words.fetch(fetched, self._input)
        self._gathered.answer(fetched.exchange, what, weight, is_sure=self._brought(fetched))

    def _begun_at(self, reader: Frame, between_ns: tuple[int, int]) -> None:
        assert self._input is not None
        place = self._input
        given = tracing.position_given(
            self._recording, place.topic, place.partition, reader, between_ns
        )
        if given is not None:
            self._gathered.answer(given, words.position(given, place), HELPFUL)

    def _position(self, writing: Exchange, fetched: Fetched | None, until_ns: int) -> None:
        if self._input is None:
            return
        place = self._input
        after_ns = writing.at_ns if fetched is None else fetched.answered_ns
        commits = tracing.commits_past(self._recording, place, after_ns, until_ns)
        own = [each for each in commits if tracing.is_same_client(each.request, writing.request)]
        for commit in tracing.until_done(own):
            self._commit(commit)
        if not own:
            self._gathered.note(self._no_commit(until_ns))

    def _commit(self, commit: Exchange) -> None:
        assert self._input is not None
        self._gathered.exchange(
            commit, words.commit(commit, self._input), words.outcome(commit), ESSENTIAL
        )

    def _no_commit(self, until_ns: int) -> str:
        assert self._input is not None
        place = self._input
        anywhere = tracing.commits_past(self._recording, replace(place, offset=-1), 0)
        if not anywhere:
            return (
                f"No commit of a position on {words.partition(place)} is recorded at all:"
                " it may be kept elsewhere."
            )
        when = "after this writing" if until_ns == NEVER_NS else "before it was written again"
        return f"No commit of a position past {words.short(place)} is recorded {when}."

    def tell_lost(self) -> None:
        """1. who fetched it 2. what moved the position past it 3. what was written in between
        4. who went back for it: a client that drops what it has not processed must seek.
        """
        assert self._input is not None
        place = self._input
        sure = [each for each in self._fetches if each.carries(place.offset)]
        carrying = sure or [each for each in self._fetches if each.carries(place.offset) is None]
        for fetched in carrying[:FETCHES_MAX]:
            self._fetch(fetched)
        if not carrying:
            self._gathered.note(f"No Fetch that brought {words.short(place)} is recorded.")
        past_ns = self._moved_past(place, carrying[0].answered_ns if carrying else 0)
        if past_ns == NEVER_NS or not carrying:
            past_ns = min(past_ns, self._passed_over(place, carrying))
        for fetched in carrying[:FETCHES_MAX]:
            if fetched.answered_ns <= past_ns:
                self._written_after(fetched, past_ns)
        if len(sure) == 1 and not self._went_back(place, sure[0]):
            self._gathered.note(
                f"No later Fetch asks for {words.short(place)} or for anything before it: nobody"
                " went back."
            )

    def _went_back(self, place: LogPlace, brought: Fetched) -> bool:
        return any(
            each.from_offset <= place.offset and each.answered_ns > brought.answered_ns
            for each in self._fetches
        )

    def _passed_over(self, place: LogPlace, carrying: Sequence[Fetched]) -> int:
        """When somebody began behind it, on a connection of its own: it was passed by then."""
        since_ns = max((each.answered_ns for each in carrying), default=0)
        lines = {each.exchange.request.connection for each in carrying}
        past = next(
            (
                each
                for each in self._fetches
                if each.from_offset > place.offset
                and each.answered_ns >= since_ns
                and each.exchange.request.connection not in lines
            ),
            None,
        )
        if past is None:
            return NEVER_NS
        self._begun_at(past.exchange.request, (since_ns, past.answered_ns))
        self._gathered.answer(past.exchange, words.fetch_past(past, place), ESSENTIAL)
        return past.answered_ns

    def _moved_past(self, place: LogPlace, after_ns: int) -> int:
        """When: by the first commit past it that counted; where none did, by the first.

        What is committed in a transaction counts from its end on, and may come before the Produce.
        """
        commits = tracing.commits_past(self._recording, place, after_ns)
        counted = [each for each in commits if self._counted(each)]
        moved = next(iter(counted or commits), None)
        if moved is None:
            self._gathered.note(self._no_commit(NEVER_NS))
            return NEVER_NS
        self._commit(moved)
        self._ending(moved, None)
        ends = tracing.ends_of(self._recording, moved.request) if moved.api != PLAIN else []
        return max(each.answered_ns for each in (moved, *ends))

    def _counted(self, commit: Exchange) -> bool:
        if commit.error_code not in (None, 0):
            return False
        if commit.api == PLAIN:
            return True
        ends = tracing.ends_of(self._recording, commit.request)
        return any(end.request.committed and end.error_code == 0 for end in ends)

    def _written_after(self, fetched: Fetched, until_ns: int) -> None:
        """Records are not looked into: any Produce after the Fetch may have had it."""
        assert self._input is not None
        reader = fetched.exchange.request
        output = words.output_topic(self._input.topic)
        produces = [
            each
            for each in self._recording.of("Produce")
            if fetched.answered_ns <= each.at_ns <= until_ns
            and tracing.is_same_client(each.request, reader)
            and words.place_in(each, output) is not None
        ]
        if not produces:
            self._gathered.note(
                f"No Produce of {words.client(reader)} is recorded from that Fetch until the"
                " position was past it."
            )
        failed = [each for each in produces if self._came_to_nothing(each)]
        # What came to nothing explains a loss; else what was written last before the commit.
        for produce in failed[:PRODUCES_MAX] or produces[-PRODUCES_MAX:]:
            self._maybe_written(produce)

    def _came_to_nothing(self, produce: Exchange) -> bool:
        if produce.error_code != 0 or produce.request.verdict in tracing.NEVER_ARRIVED:
            return True
        batch = self._left_in_log(produce)
        return batch is not None and batch.outcome in ("ABORTED", "UNKNOWN")

    def _left_in_log(self, produce: Exchange) -> Batch | None:
        """Only the output's log was read: of another topic nothing is known."""
        assert self._input is not None
        output = words.output_topic(self._input.topic)
        place = None if output is None else words.place_in(produce, output)
        return None if place is None else self._recording.batch_at(place.partition, place.offset)

    def _maybe_written(self, produce: Exchange) -> None:
        assert self._input is not None
        place = words.place_in(produce, words.output_topic(self._input.topic))
        if place is None:
            return
        asked = f"{words.produce(produce, place)}, which may have held it"
        self._gathered.exchange(
            produce, asked, words.written(produce, place), HELPFUL, is_sure=False
        )
        if self._left_in_log(produce) is not None:
            self._ending(produce, place)
