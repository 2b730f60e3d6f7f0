"""Everything that runs during a trial, started in the right order and ended whatever happens.

proxy ──▶ brokers ──▶ topics ──▶ instances ─┬─▶ ready
Spark ──────────────────────────────────────┘
"""

import contextlib
import random
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from onceproof.cluster import keep, topics
from onceproof.cluster.broker import Broker
from onceproof.cluster.client import BrokerClient
from onceproof.cluster.external import ExternalCluster
from onceproof.cluster.local import LocalCluster
from onceproof.cluster.ports import HeldPorts
from onceproof.cluster.settings import INTERNAL
from onceproof.errors import FaultError
from onceproof.faults.catalog import Means
from onceproof.faults.schedule import Step
from onceproof.faults.targets import Field
from onceproof.history.event import EventLog
from onceproof.history.run_directory import RunDirectory
from onceproof.jars.spark_jvm import spark_jvm
from onceproof.suspects.environment import Assignment
from onceproof.suspects.instance import Instance
from onceproof.trial.plan import Plan
from onceproof.trial.spark import JudgeSpark
from onceproof.wire.control import Wire

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Cluster = LocalCluster | ExternalCluster


class Stage:
    """Use as a context: what was started is ended in reverse order."""

    def __init__(
        self,
        plan: Plan,
        directory: RunDirectory,
        events: EventLog,
        spark: JudgeSpark | None = None,
    ) -> None:
        """`spark`: a session that somebody else started, and will end."""
        self.plan = plan
        self.directory = directory
        self.events = events
        self.random = random.Random(plan.seed)
        self.instances: list[Instance] = []
        self._cluster: Cluster | None = None
        self._wire: Wire | None = None
        self._wire_ports = HeldPorts()
        self._spark = spark
        self._owns_spark = spark is None
        self._suspect_jvm = spark_jvm("suspect") if plan.suspect.spark else None
        # The run directory's own name: unique on a cluster that others use too.
        self.app_id = f"onceproof-{directory.path.parent.name}-{directory.path.name}"
        self.input_topic = f"{self.app_id}-in"
        self.output_topic = f"{self.app_id}-out"

    def __enter__(self) -> "Stage":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def cluster(self) -> Cluster:
        assert self._cluster is not None
        return self._cluster

    @property
    def client(self) -> BrokerClient:
        return self.cluster.client()

    @property
    def spark(self) -> "SparkSession":
        assert self._spark is not None
        return self._spark.session

    def open(self) -> None:
        """Spark beside everything else: it is needed last, and takes longest."""
        self.events.write("phase", "start")
        with ThreadPoolExecutor(max_workers=1) as pool:
            spark = pool.submit(self._ensure_spark)
            try:
                self._cluster = self._start_cluster()
                for topic in (self.input_topic, self.output_topic):
                    partitions = self.plan.scenario.partitions
                    topics.create_topic(self.client, topic, partitions=partitions)
                self._start_instances()
            finally:
                self._spark = None if spark.exception() else spark.result()
            spark.result()

    def _start_cluster(self) -> Cluster:
        if self.plan.bootstrap_server is not None:
            return ExternalCluster(self.plan.bootstrap_server)
        scenario = self.plan.scenario
        self._wire = self._start_wire()
        started = LocalCluster.start(
            scenario.kafka,
            directory=self.directory.state / "brokers",
            logs=self.directory.logs,
            brokers=scenario.brokers,
            properties=scenario.broker_properties,
            advertise=None if self._wire is None else self._advertise,
            outlives_us=self.plan.keep_cluster,
            progress=lambda text: self._note("cluster", text),
        )
        self._note("cluster", f"{scenario.brokers} brokers are up: a transaction was committed")
        if self.plan.keep_cluster:
            keep.save(started, self._state_file)
            self._note("cluster", f"kept; end it: cluster down --directory {self.directory.state}")
        return started

    def _start_wire(self) -> Wire | None:
        """A cluster that is kept must not lead through a proxy that ends with the run."""
        if self.plan.keep_cluster or not self.plan.needs_wire:
            return None
        return Wire.start(
            record=self.directory.history / "wire",
            log=self.directory.logs / "wire.log",
            seed=self.plan.seed,
            take_ports=self._wire_ports.take,
        )

    def _advertise(self, broker: int, listener: str, bound: str) -> str:
        """What brokers say to each other goes straight, unless a scenario needs it."""
        assert self._wire is not None
        return bound if listener == INTERNAL else self._wire.advertise(broker, listener, bound)

    @property
    def wire(self) -> Wire:
        if self._wire is None:
            raise FaultError("no proxy: this cluster's addresses do not lead through one")
        return self._wire

    def means(self, step: Step) -> Means:
        return Means(wire=self._wire, parameters=step.parameters)

    def _ensure_spark(self) -> JudgeSpark:
        if self._spark is not None:
            return self._spark
        started = JudgeSpark.start(self.directory.logs, self.directory.state / "judge")
        self._note("spark", "the judge's Spark session is up")
        return started

    def _note(self, subject: str, text: str) -> None:
        self.events.write("note", subject, text=text)

    def _start_instances(self) -> None:
        assignment = self._assignment()
        self.instances = [
            Instance(
                number,
                self.plan.suspect,
                assignment,
                self.directory.logs,
                self.events,
                on_start=self._know_instance,
            )
            for number in range(self.plan.scenario.instances)
        ]
        for instance in self.instances:
            instance.start()

    def _know_instance(self, number: int, pid: int) -> None:
        if self._wire is not None:
            self._wire.know(number, pid)

    def _assignment(self) -> Assignment:
        jvm = self._suspect_jvm
        return Assignment(
            bootstrap_servers=self.cluster.bootstrap("suspects"),
            input_topic=self.input_topic,
            output_topic=self.output_topic,
            app_id=self.app_id,
            workload=self.plan.scenario.workload,
            state_root=(self.directory.state / "suspect").absolute(),
            transaction_timeout_ms=self.plan.scenario.transaction_timeout_ms,
            settings=self.plan.settings,
            spark_classpath=jvm.classpath if jvm else "",
            spark_java_options=jvm.java_options if jvm else "",
        )

    @property
    def brokers(self) -> dict[int, Broker]:
        """Ours; none on a cluster that runs already."""
        return self.cluster.brokers if isinstance(self.cluster, LocalCluster) else {}

    def field(self) -> Field:
        return Field(
            instances=self.instances,
            brokers=self.brokers,
            client=self.client,
            output_topic=self.output_topic,
            app_id=self.app_id,
            random=self.random,
        )

    def stop_instances(self) -> None:
        """A clean end for each; one that is deaf is killed."""
        for instance in self.instances:
            if instance.is_running():
                instance.stop()
            else:
                instance.notice_exit()
        if self._suspect_jvm is not None:
            self._suspect_jvm.keep_archive()

    def close(self) -> None:
        """Each step on its own: one that fails does not keep the others from being done."""
        with contextlib.ExitStack() as last_first:
            if not self.plan.keep_cluster:
                last_first.callback(self._discard)
            if self._spark is not None and self._owns_spark:
                last_first.callback(self._spark.stop)
            last_first.callback(self._wire_ports.release)
            if self._wire is not None:
                last_first.callback(self._wire.close)
            if self._cluster is not None:
                last_first.callback(self._leave_cluster, self._cluster)
            for instance in self.instances:
                last_first.callback(instance.end)

    def _leave_cluster(self, cluster: Cluster) -> None:
        if not self.plan.keep_cluster:
            cluster.stop()
        elif isinstance(cluster, LocalCluster):
            keep.save(cluster, self._state_file)  # restarted brokers have other pids

    @property
    def _state_file(self) -> Path:
        return self.directory.state / keep.STATE_FILE

    def _discard(self) -> None:
        """Brokers' data and the suspect's state: dear on disk, and of no use once judged."""
        shutil.rmtree(self.directory.state, ignore_errors=True)
