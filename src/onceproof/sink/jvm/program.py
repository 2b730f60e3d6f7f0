"""Runs on the driver. The Java sources here, made a part of the running Spark application.

    *.java ─▶ Janino (Spark's own compiler) ─▶ classes ─▶ a jar ─▶ addJar ─▶ executors

Compiled against the very Spark and Kafka client that run, so one source does for all versions.
"""

import hashlib
import zipfile
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from onceproof.sink.errors import SinkError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Each uses those before it.
SOURCES = (
    "Talkative.java",
    "Renewal.java",
    "Fencing.java",
    "Announcement.java",
    "Patience.java",
    "Memory.java",
    "Digest.java",
    "Bytes.java",
    "Rows.java",
    "Writing.java",
    "Told.java",
    "LaneWriter.java",
    "WholeBatch.java",
    "WholeWriter.java",
)
PACKAGE = "onceproof.sink"
LANE_WRITER, WHOLE_WRITER = "LaneWriter", "WholeWriter"
_NEEDED = (
    "org.apache.kafka.clients.producer.KafkaProducer",
    "org.codehaus.janino.SimpleCompiler",
    "com.fasterxml.jackson.databind.ObjectMapper",
)
_ISOLATION = "spark.sql.artifact.isolation.enabled"  # then each session has its own jars
_ready: dict[str, "Program"] = {}  # by application: one jar for all its queries
_lock = Lock()


class NoProgramError(SinkError):
    """Spark's JVM cannot write lanes, and why."""


class Program:
    def __init__(self, loader: Any, gateway: Any) -> None:
        self._loader = loader
        self._gateway = gateway
        self.producer_settings = self._known_settings()  # by this version of Kafka's client

    def writer(self, name: str, plan: str) -> Any:
        """An instance, on the driver, for Spark to send to its tasks."""
        arguments = self._gateway.new_array(self._gateway.jvm.java.lang.Object, 1)
        arguments[0] = plan
        return (
            self._loader.loadClass(f"{PACKAGE}.{name}").getConstructors()[0].newInstance(arguments)
        )

    def _known_settings(self) -> frozenset[str]:
        new_array, java = self._gateway.new_array, self._gateway.jvm.java.lang
        config = self._loader.loadClass("org.apache.kafka.clients.producer.ProducerConfig")
        names = config.getMethod("configNames", new_array(java.Class, 0))
        return frozenset(names.invoke(None, new_array(java.Object, 0)))


def program_for(session: "SparkSession") -> Program:
    """NoProgramError where there can be none. One application compiles once."""
    whose = str(session.sparkContext.applicationId)
    if str(session.conf.get(_ISOLATION, "false")).lower() == "true":
        whose += str(session._jsparkSession.sessionUUID())
    with _lock:
        if whose not in _ready:
            _ready[whose] = _made(session)
        return _ready[whose]


def _made(session: "SparkSession") -> Program:
    from py4j.protocol import Py4JError

    context = session.sparkContext
    gateway: Any = context._gateway
    jvm = gateway.jvm
    try:
        parent = jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader()
        for name in _NEEDED:
            parent.loadClass(name)
        classes: dict[str, bytes] = {}
        for source in SOURCES:
            compiler = jvm.org.codehaus.janino.SimpleCompiler()
            compiler.setParentClassLoader(parent)
            compiler.setDebuggingInformation(True, True, False)
            compiler.cook(source, _text(source))
            classes |= {str(name): bytes(code) for name, code in compiler.getBytecodes().items()}
            parent = compiler.getClassLoader()
        context._jsc.addJar(str(_jar(Path(context._temp_dir), classes)))
        return Program(parent, gateway)
    except OSError as error:  # a package without its sources, a folder that is not there
        raise NoProgramError(f"the sink's Java cannot be had: {error}") from error
    except Py4JError as error:
        told = str(error).partition("\n")[2].partition("\n")[0] or str(error)
        raise NoProgramError(f"Spark's JVM cannot write lanes: {told.strip()}") from error


def _text(source: str) -> str:
    return files("onceproof.sink.jvm").joinpath(source).read_text("utf-8")


def _jar(folder: Path, classes: dict[str, bytes]) -> Path:
    """In a folder that lives as long as the application: late executors fetch it, too.

    Named by what is in it: Spark takes one name for one jar.
    """
    content = hashlib.sha256(b"".join(classes[name] for name in sorted(classes)))
    path = folder / f"onceproof-sink-{content.hexdigest()[:12]}.jar"
    with zipfile.ZipFile(path, "w") as jar:
        for name, code in sorted(classes.items()):
            jar.writestr(f"{name.replace('.', '/')}.class", code)
    return path
