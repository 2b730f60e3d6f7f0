"""Holds an instance where its rows are in its database and its position is not yet."""

from collections.abc import Callable

from onceproof.deadline import Deadline
from onceproof.errors import FaultError
from onceproof.suspects.instance import Instance
from onceproof.suspects.tables.table import Gate
from onceproof.trial.watch import Watch


class TableHold:
    """`wait`; after that either `let_go` or `abandon` must follow."""

    is_late = False  # the database undoes what its client leaves behind

    def __init__(self, table: object, watch: Watch, victim: Instance) -> None:
        if not isinstance(table, Gate):
            raise FaultError(
                f"{victim.name} writes into no database that can hold it before its position"
            )
        self._table = table
        self._watch = watch
        self._victim = victim

    def wait(self, deadline: Deadline, is_over: Callable[[], bool]) -> str:
        """Returns with the instance held; what shows it."""
        self._table.shut()
        try:
            while True:
                shown = self._table.waiting(self._victim.number)
                if shown is not None:
                    return shown
                self._watch.turn()
                if is_over() or deadline.expired():
                    raise FaultError(f"{self._victim.name} did not come to move its position")
        except BaseException:
            self._table.open()
            raise

    def let_go(self, *, is_back: bool) -> None:
        """Called after the fault was injected, and again when the victim is back."""
        if not is_back:
            self._table.open()

    def abandon(self) -> None:
        """The fault could not be injected: all goes on as if nothing had been held."""
        self._table.open()
