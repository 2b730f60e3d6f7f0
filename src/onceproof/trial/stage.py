"""Everything that runs during a trial, started in the right order and ended whatever happens.

proxy ──▶ brokers ──▶ topics ──▶ instances ─┬─▶ ready
Spark ──────────────────────────────────────┘
"""

import contextlib
import random
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from onceproof.cluster import keep, quotas, topics
from onceproof.cluster.broker import Broker
from onceproof.cluster.client import BrokerClient
from onceproof.cluster.local import LocalCluster
from onceproof.errors import ClusterError, FaultError
from onceproof.faults.catalog import Means
from onceproof.faults.schedule import Step
from onceproof.faults.targets import Field
from onceproof.history.event import EventLog
from onceproof.history.run_directory import RunDirectory
from onceproof.jars.spark_jvm import spark_jvm
from onceproof.suspects.environment import Assignment
from onceproof.suspects.instance import Instance
from onceproof.suspects.spare import Spares
from onceproof.suspects.suspect import PositionHome
from onceproof.suspects.tables.cassandra import CassandraTable
from onceproof.suspects.tables.postgres import PostgresTable
from onceproof.suspects.tables.sqlite import SqliteTable
from onceproof.suspects.tables.table import Table
from onceproof.trial.ground import Cluster, Ground
from onceproof.trial.planning.plan import Plan
from onceproof.trial.spark import JudgeSpark
from onceproof.wire.control import Wire

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# On a server, at the address it is given.
TABLES: dict[str, Callable[[str], Table]] = {
    PositionHome.POSTGRES: PostgresTable,
    PositionHome.CASSANDRA: CassandraTable,
}


class Stage:
    """`close` it, whatever happens: what was started is ended in reverse order."""

    def __init__(
        self,
        plan: Plan,
        directory: RunDirectory,
        events: EventLog,
        spark: JudgeSpark | None = None,
        ground: Ground | None = None,
        *,
        spares: Spares | None = None,
    ) -> None:
        """`spark`, `ground`, `spares`: what somebody else started, and will end."""
        self.plan = plan
        self.directory = directory
        self.events = events
        self.random = random.Random(plan.seed)
        self.instances: list[Instance] = []
        self.ground = ground or Ground(is_kept=plan.keep_cluster)
        self._owns_ground = ground is None
        self._client: BrokerClient | None = None
        self._spark = spark
        self._owns_spark = spark is None
        self._spares = spares
        self.table: Table | None = None  # where the suspect writes, if not into a topic
        self._database = ""  # its address, if there is a server
        self._suspect_jvm = spark_jvm("suspect") if plan.suspect.spark else None
        # The run directory's own name: unique on a cluster that others use too.
        self.app_id = f"onceproof-{directory.path.parent.name}-{directory.path.name}"
        self.input_topic = f"{self.app_id}-in"
        self.output_topic = f"{self.app_id}-out"

    @property
    def topics(self) -> tuple[str, ...]:
        """Made for this trial: input, output, and what the suspect keeps in topics of its own."""
        own = (f"{self.app_id}-{name}" for name in self.plan.suspect.topics)
        return self.input_topic, self.output_topic, *own

    @property
    def cluster(self) -> Cluster:
        return self.ground.cluster

    @property
    def client(self) -> BrokerClient:
        """Of this stage alone: on a ground of many, another trial may be judged meanwhile."""
        if self._owns_ground:
            return self.cluster.client()
        if self._client is None:
            self._client = BrokerClient(self.cluster.bootstrap("judge"))
        return self._client

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
                self._open_ground()
                for topic in self.topics:
                    partitions = self.plan.scenario.partitions
                    topics.create_topic(self.client, topic, partitions=partitions)
                self._set_quota()
                self._make_table()
                self._start_instances()
            finally:
                self._spark = None if spark.exception() else spark.result()
            spark.result()

    def _open_ground(self) -> None:
        record = self.directory.wire
        if not self._owns_ground:
            if self.ground.wire is not None:
                self.ground.wire.clear()
                self.ground.wire.record_into(record)
            return
        self.ground.open(
            self.plan,
            logs=self.directory.logs,
            state=self.directory.state,
            record=record,
            note=lambda text: self._note("cluster", text),
        )
        if self.plan.keep_cluster and isinstance(self.cluster, LocalCluster):
            keep.save(self.cluster, self._state_file)
            self._note("cluster", f"kept; end it: cluster down --directory {self.directory.state}")

    @property
    def wire(self) -> Wire:
        if self.ground.wire is None:
            raise FaultError("no proxy: this cluster's addresses do not lead through one")
        return self.ground.wire

    def frames_seen(self) -> dict[str, int]:
        """How many the proxy has seen, and could not decode; they are on disk after this."""
        return {} if self.ground.wire is None else self.ground.wire.flush()

    def wire_troubles(self) -> list[str]:
        """What the proxy could not follow: nothing can be said of that."""
        told = [] if self.ground.wire is None else self.ground.wire.troubles()
        return [f"trouble at the proxy: {each}" for each in told]

    def means(self, step: Step) -> Means:
        ground = self.ground
        return Means(
            wire=ground.wire,
            agents=ground.agents,
            client=self.client,
            app_id=self.app_id,
            output_topic=self.output_topic,
            parameters=step.parameters,
            frames=step.frames,
        )

    def _ensure_spark(self) -> JudgeSpark:
        if self._spark is not None:
            return self._spark
        started = JudgeSpark.start(self.directory.logs, self.directory.state / "judge")
        self._note("spark", "the judge's Spark session is up")
        return started

    def _note(self, subject: str, text: str) -> None:
        self.events.write("note", subject, text=text)

    def _set_quota(self) -> None:
        rate = self.plan.scenario.producer_byte_rate
        if rate is None:
            return
        clients = [
            name.format(app_id=self.app_id, instance=number)
            for name in self.plan.suspect.producer_clients
            for number in self.plan.instance_numbers
        ]
        quotas.limit_producers(self.client, clients, rate)
        self._note("cluster", f"quota: {rate} bytes a second for each producer of the suspect's")

    def _make_table(self) -> None:
        home = self.plan.suspect.position
        if home is PositionHome.SQLITE:
            self.table = SqliteTable(self.state_dir)
        elif home in TABLES:
            self._database = self.ground.database(home).new_space()
            self._note(home, "its database is up")
            self.table = TABLES[home](self._database)
            self.table.make()

    @property
    def state_dir(self) -> Path:
        """Of the first instance: who keeps a position there runs as one."""
        number = self.plan.scenario.first_instance
        return self.directory.state / "suspect" / f"instance-{number}"

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
                spares=self._spares,
            )
            for number in self.plan.instance_numbers
        ]
        for instance in self.instances[: self.plan.scenario.running]:
            instance.start()

    def _know_instance(self, number: int, pid: int, start: int) -> None:
        if self.ground.wire is not None:
            self.ground.wire.know(number, pid, start)

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
            database=self._database,
        )

    @property
    def brokers(self) -> dict[int, Broker]:
        return self.ground.brokers

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

    def end_instances(self) -> None:
        for instance in self.instances:
            instance.end()

    def close(self) -> None:
        """Each step on its own: one that fails does not keep the others from being done."""
        with contextlib.ExitStack() as last_first:
            if not self.plan.keep_cluster:
                last_first.callback(self._discard)
            if self._spark is not None and self._owns_spark:
                last_first.callback(self._spark.stop)
            last_first.callback(self._leave_ground)
            if self.table is not None:
                last_first.callback(self.table.close)
            for instance in self.instances:
                last_first.callback(instance.end)

    def _leave_ground(self) -> None:
        if self._owns_ground:
            if self.plan.keep_cluster and self.brokers:
                assert isinstance(self.cluster, LocalCluster)
                keep.save(self.cluster, self._state_file)  # restarted brokers have other pids
            self.ground.close()
            return
        for topic in self.topics:
            with contextlib.suppress(ClusterError):  # the next trial has topics of its own
                topics.delete_topic(self.client, topic)
        if self._client is not None:
            self._client.close()

    @property
    def _state_file(self) -> Path:
        return self.directory.state / keep.STATE_FILE

    def _discard(self) -> None:
        """Brokers' data and the suspect's state: dear on disk, and of no use once judged."""
        shutil.rmtree(self.directory.state, ignore_errors=True)
