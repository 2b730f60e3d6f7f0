"""The four workloads as one topology of the Processor API; the processor is Python's.

    input topic ──▶ source ──▶ step (Python) ──▶ sink ──▶ output topic
                                 │ state store, RocksDB, with its changelog; `copy` has none

Calls from Java come on the stream thread. One processor, and one store, for each task.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from jpype import JClass, JImplements, JOverride

from onceproof.deadline import pause
from onceproof.suspects.streams.steps import STATEFUL, STEPS, Late, NoState, State

STORE = "state"
SOURCE, STEP, SINK = "input", "step", "output"
Watch = Callable[[str, int], None]
"""Told each output and its partition."""


@dataclass(frozen=True, kw_only=True)
class Form:
    """What the topology does, and how it keeps its state."""

    workload: str
    cached: bool
    state_bytes: int  # the least length of a state
    watermark_ms: int  # how often a punctuator writes down what is late; 0: nothing is
    work_ms: int  # so long each record takes
    watch: Watch

    @property
    def is_stateful(self) -> bool:
        return self.workload in STATEFUL or self.watermark_ms > 0


def make_topology(form: Form, *, input_topic: str, output_topic: str) -> Any:
    topology = JClass("org.apache.kafka.streams.Topology")()
    serde = JClass("org.apache.kafka.common.serialization.Serdes").String()
    topology.addSource(SOURCE, serde.deserializer(), serde.deserializer(), input_topic)
    topology.addProcessor(STEP, _Supplier(form), SOURCE)
    if form.is_stateful:
        topology.addStateStore(_store(serde, cached=form.cached), STEP)
    topology.addSink(SINK, output_topic, serde.serializer(), serde.serializer(), STEP)
    return topology


def _store(serde: Any, *, cached: bool) -> Any:
    stores = JClass("org.apache.kafka.streams.state.Stores")
    builder = stores.keyValueStoreBuilder(stores.persistentKeyValueStore(STORE), serde, serde)
    return builder.withCachingEnabled() if cached else builder.withCachingDisabled()


@JImplements("org.apache.kafka.streams.processor.api.ProcessorSupplier", deferred=True)
class _Supplier:
    def __init__(self, form: Form) -> None:
        self._form = form

    @JOverride
    def get(self) -> Any:
        return _Processor(self._form)

    @JOverride
    def stores(self) -> Any:
        return None  # it is added to the topology by name


@JImplements("org.apache.kafka.streams.processor.api.Processor", deferred=True)
class _Processor:
    def __init__(self, form: Form) -> None:
        self._form = form
        self._step = STEPS[form.workload]

    @JOverride
    def init(self, context: Any) -> None:
        self._context = context
        self._partition = int(context.taskId().partition())
        self._state: State = NoState()
        if self._form.is_stateful:
            self._state = _PaddedState(context.getStateStore(STORE), self._form.state_bytes)
        if self._form.watermark_ms:
            self._drop_late_ones()

    def _drop_late_ones(self) -> None:
        late = self._step = Late(self._step)
        self._context.schedule(
            JClass("java.time.Duration").ofMillis(self._form.watermark_ms),
            JClass("org.apache.kafka.streams.processor.PunctuationType").WALL_CLOCK_TIME,
            _Punctuator(lambda: late.write(self._state)),
        )

    @JOverride
    def process(self, record: Any) -> None:
        if self._form.work_ms:
            pause(self._form.work_ms / 1000)
        output = self._step(str(record.key()), str(record.value()), self._state)
        if output is None:
            return
        self._context.forward(record.withValue(output))
        self._form.watch(output, self._partition)

    @JOverride
    def close(self) -> None:
        pass


@JImplements("org.apache.kafka.streams.processor.Punctuator", deferred=True)
class _Punctuator:
    def __init__(self, act: Callable[[], None]) -> None:
        self._act = act

    @JOverride
    def punctuate(self, _timestamp: int) -> None:
        self._act()


class _PaddedState:
    """A store of texts, each filled up with spaces to a least length."""

    def __init__(self, store: Any, length_min: int) -> None:
        self._store = store
        self._length_min = length_min

    def get(self, key: str) -> str | None:
        kept = self._store.get(key)
        return None if kept is None else str(kept).rstrip(" ")

    def put(self, key: str, text: str) -> None:
        self._store.put(key, text.ljust(self._length_min))
