"""The four workloads as one topology of the Processor API; the processor is Python's.

    input topic ──▶ source ──▶ step (Python) ──▶ sink ──▶ output topic
                                 │ state store, RocksDB, with its changelog

Calls from Java come on the stream thread. One processor, and one store, for each task.
"""

from collections.abc import Callable
from typing import Any

from jpype import JClass, JImplements, JOverride

from onceproof.suspects.streams.steps import STATEFUL, STEPS, NoState, State, Step

STORE = "state"
SOURCE, STEP, SINK = "input", "step", "output"
Watch = Callable[[str, int], None]
"""Told each output and its partition."""


def make_topology(
    workload: str,
    *,
    input_topic: str,
    output_topic: str,
    cached: bool,
    state_bytes: int,
    watch: Watch,
) -> Any:
    topology = JClass("org.apache.kafka.streams.Topology")()
    serde = JClass("org.apache.kafka.common.serialization.Serdes").String()
    topology.addSource(SOURCE, serde.deserializer(), serde.deserializer(), input_topic)
    length = state_bytes if workload in STATEFUL else None
    topology.addProcessor(STEP, _Supplier(STEPS[workload], length, watch), SOURCE)
    if workload in STATEFUL:
        topology.addStateStore(_store(serde, cached=cached), STEP)
    topology.addSink(SINK, output_topic, serde.serializer(), serde.serializer(), STEP)
    return topology


def _store(serde: Any, *, cached: bool) -> Any:
    stores = JClass("org.apache.kafka.streams.state.Stores")
    builder = stores.keyValueStoreBuilder(stores.persistentKeyValueStore(STORE), serde, serde)
    return builder.withCachingEnabled() if cached else builder.withCachingDisabled()


@JImplements("org.apache.kafka.streams.processor.api.ProcessorSupplier", deferred=True)
class _Supplier:
    def __init__(self, step: Step, state_bytes: int | None, watch: Watch) -> None:
        """`state_bytes`: the least length of a state; None: it keeps none."""
        self._making = (step, state_bytes, watch)

    @JOverride
    def get(self) -> Any:
        return _Processor(*self._making)

    @JOverride
    def stores(self) -> Any:
        return None  # it is added to the topology by name


@JImplements("org.apache.kafka.streams.processor.api.Processor", deferred=True)
class _Processor:
    def __init__(self, step: Step, state_bytes: int | None, watch: Watch) -> None:
        self._step = step
        self._state_bytes = state_bytes
        self._watch = watch

    @JOverride
    def init(self, context: Any) -> None:
        self._context = context
        self._partition = int(context.taskId().partition())
        self._state: State = NoState()
        if self._state_bytes is not None:
            self._state = _PaddedState(context.getStateStore(STORE), self._state_bytes)

    @JOverride
    def process(self, record: Any) -> None:
        output = self._step(str(record.key()), str(record.value()), self._state)
        if output is None:
            return
        self._context.forward(record.withValue(output))
        self._watch(output, self._partition)

    @JOverride
    def close(self) -> None:
        pass


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
