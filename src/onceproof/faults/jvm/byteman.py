"""Byteman in a victim's JVM: loaded once a process, then told rules by a port on this machine."""

import socket
from collections.abc import Callable, Iterable

from onceproof import jars
from onceproof.cluster.ports import HOST
from onceproof.errors import FaultError
from onceproof.faults.jvm.attach import find_jvm, load_agent
from onceproof.faults.jvm.rule import Rule
from onceproof.process import start_ticks

JAR_SET = "byteman-4.0.27"
ASK_S_MAX = 15.0
END_OF_ANSWER = "OK"
REFUSED = ("ERROR", "EXCEPTION")


class Agent:
    """Byteman inside one JVM."""

    def __init__(self, pid: int, port: int) -> None:
        self._pid = pid
        self._ticks = start_ticks(pid)
        self._port = port

    def is_there(self) -> bool:
        """Whether that very process still runs."""
        return self._ticks is not None and start_ticks(self._pid) == self._ticks

    def submit(self, rules: Iterable[Rule]) -> None:
        """From now on these rules hold. FaultError where Byteman cannot read one."""
        self._ask(_script("LOAD", rules))

    def withdraw(self, rules: Iterable[Rule]) -> None:
        self._ask(_script("DELETE", rules))

    def listing(self) -> str:
        """All rules, each with the methods it has found."""
        return self._ask("LIST\n")

    def _ask(self, text: str) -> str:
        try:
            with socket.create_connection((HOST, self._port), timeout=ASK_S_MAX) as link:
                link.sendall(text.encode())
                answer = link.makefile(encoding="utf-8", errors="replace").read()
        except OSError as error:
            raise FaultError(f"Byteman in process {self._pid} does not answer: {error}") from error
        lines = answer.splitlines()
        refused = [line for line in lines if line.startswith(REFUSED)]
        if refused or END_OF_ANSWER not in lines:
            raise FaultError(f"Byteman in process {self._pid} refused: {' '.join(lines)[:500]}")
        return answer


class Agents:
    """One for each JVM that was ever asked for; a process that was started again is another."""

    def __init__(self, take_ports: Callable[[int], list[int]]) -> None:
        self._take_ports = take_ports
        self._known: dict[int, Agent] = {}  # by pid

    def of(self, name: str, pids: Iterable[int]) -> Agent:
        """The agent in the JVM among these processes, loaded now if it is not there yet."""
        pid = find_jvm(pids)
        if pid is None:
            raise FaultError(f"{name} is no Java process: it has no methods that could be reached")
        known = self._known.get(pid)
        if known is None or not known.is_there():
            (jar,) = jars.classpath(JAR_SET)
            (port,) = self._take_ports(1)
            load_agent(pid, jar, f"listener:true,address:{HOST},port:{port}")
            known = self._known[pid] = Agent(pid, port)
        return known


def _script(command: str, rules: Iterable[Rule]) -> str:
    scripts = "".join(f"SCRIPT {rule.name}\n{rule.to_text()}ENDSCRIPT\n" for rule in rules)
    return f"{command}\n{scripts}END{command}\n"
