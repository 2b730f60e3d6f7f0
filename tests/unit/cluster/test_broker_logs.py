from pathlib import Path

from onceproof.cluster.logs import cause, port_was_taken, trouble

LOG = """2026-11-15 20:54:47.600 [main] INFO kafka.server.BrokerServer - starting
2026-11-15 20:54:47.617 [main] ERROR kafka.Kafka$ - Exiting Kafka due to fatal exception
org.apache.kafka.common.config.ConfigException: Invalid value many for num.io.threads
\tat org.apache.kafka.common.config.ConfigDef.parseType(ConfigDef.java:753)
2026-11-15 20:54:47.700 [main] INFO kafka.server.BrokerServer - gone
"""


def test_the_error_and_its_exception_are_shown_and_nothing_else(tmp_path: Path) -> None:
    log = tmp_path / "broker-1.log"
    log.write_text(LOG)
    assert trouble(log) == [
        "2026-11-15 20:54:47.617 [main] ERROR kafka.Kafka$ - Exiting Kafka due to fatal exception",
        "org.apache.kafka.common.config.ConfigException: Invalid value many for num.io.threads",
    ]


def test_a_kill_by_the_system_is_named(tmp_path: Path) -> None:
    log = tmp_path / "broker-1.log"
    log.write_text("2026-11-15 20:54:47.600 [main] INFO last words\n")
    assert cause(log, -9) == (
        "exit code -9 (killed by SIGKILL: by us, or by the system for lack of memory); "
        f"2026-11-15 20:54:47.600 [main] INFO last words; see {log}"
    )


def test_a_log_that_was_never_written_is_said_to_be_empty(tmp_path: Path) -> None:
    log = tmp_path / "broker-1.log"
    assert cause(log, 1) == f"exit code 1; its log is empty; see {log}"


def test_a_crash_of_the_jvm_is_told_by_its_signal(tmp_path: Path) -> None:
    log = tmp_path / "broker-1.log"
    log.write_text(
        "#\n# A fatal error has been detected\n#\n#  SIGBUS (0x7) at pc=0x00\n#\n# JRE 17\n#\n"
    )
    assert cause(log, -6).startswith("exit code -6 (the JVM crashed); #  SIGBUS (0x7) at pc=0x00")


def test_a_full_disk_is_shown(tmp_path: Path) -> None:
    log = tmp_path / "broker-1.log"
    log.write_text("java.io.IOException: No space left on device\n")
    assert trouble(log) == ["java.io.IOException: No space left on device"]


def test_a_taken_port_is_told_apart_from_other_trouble(tmp_path: Path) -> None:
    log = tmp_path / "broker-1.log"
    log.write_text(LOG)
    assert not port_was_taken(log)
    log.write_text(LOG + "Caused by: java.net.BindException: Address already in use\n")
    assert port_was_taken(log)
