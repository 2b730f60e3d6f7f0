"""The command `onceproof`. Exit codes are a contract: a traceback is never 1, a usage error never
2.

    0 HELD   1 BROKEN   2 UNKNOWN   254 bad arguments   255 onceproof itself failed
"""

import logging
import signal
import socketserver
import sys
import traceback
from typing import Any

import typer

from onceproof.cli import (
    check,
    cluster,
    compare,
    doctor,
    list_,
    matrix,
    offsets,
    report,
    run,
    shrink,
    suite,
    sweep,
)
from onceproof.cli.printing import say_error
from onceproof.errors import OnceproofError, UsageError

INTERRUPTED = 255
# Newer versions of Typer carry their own copy of click: its exceptions are found through Typer's.
_ClickException: Any = next(
    each for each in typer.BadParameter.__mro__ if each.__name__ == "ClickException"
)

_interrupted = False

app = typer.Typer(
    name="onceproof",
    help="Puts an exactly-once pipeline on trial: HELD, BROKEN with a witness, or UNKNOWN.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("run")(run.run)
app.command("list")(list_.list_names)
app.command("suite")(suite.suite)
app.command("sweep")(sweep.sweep)
app.command("matrix")(matrix.matrix)
app.command("compare")(compare.compare)
app.command("offsets")(offsets.offsets)
app.command("doctor")(doctor.doctor)
app.command("shrink")(shrink.shrink)
app.command("check")(check.check)
app.command("report")(report.report)
app.add_typer(cluster.app, name="cluster")


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", help="Show the version and end."),
) -> None:
    if version:
        from onceproof import __version__
        from onceproof.cli.printing import say

        say(f"onceproof {__version__}")
        raise typer.Exit(0)
    if context.invoked_subcommand is None:
        raise UsageError("no command; see onceproof --help")


def main(arguments: list[str] | None = None) -> int:
    """Everything that can end a command, turned into an exit code and one line."""
    try:
        return _run(arguments)
    except BaseException:
        # Once all its processes are gone, whatever was waiting for one of them fails somehow.
        if _interrupted:
            return _say_interrupted()
        raise


def _run(arguments: list[str] | None) -> int:
    try:
        outcome: Any = app(args=arguments, standalone_mode=False)
        return outcome if isinstance(outcome, int) else 0
    except _ClickException as error:
        say_error(f"onceproof: {error.format_message()}")
        return UsageError.exit_code
    except typer.Exit as end:
        return end.exit_code
    except OnceproofError as error:
        say_error(f"onceproof: {error}")
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return _say_interrupted()
    except BrokenPipeError:
        return INTERRUPTED
    except Exception:  # noqa: BLE001 - the outermost guard: a traceback must not look like BROKEN
        if _interrupted:
            return _say_interrupted()
        say_error(
            traceback.format_exc() + "onceproof: failed; this is a defect of onceproof itself"
        )
        return INTERRUPTED


def _say_interrupted() -> int:
    say_error("onceproof: interrupted; everything it started has been ended")
    return INTERRUPTED


def command() -> int:
    """As started by a user: SIGTERM ends it as Ctrl-C does, and its processes go first."""
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _interrupt)
    return main()


def _interrupt(_number: int, _frame: object) -> None:
    from onceproof.process import end_everything

    global _interrupted  # noqa: PLW0603 - told by a signal, which has no other way to tell it
    if not _interrupted:
        _interrupted = True
        _hush()
        end_everything()
    raise KeyboardInterrupt


def _hush() -> None:
    """Who talks to a process that is gone now fails, and tells it at length: py4j in its log,
    Spark's server of accumulators on standard error.
    """
    logging.disable()
    socketserver.BaseServer.handle_error = lambda *_: None  # type: ignore[method-assign]


if __name__ == "__main__":
    sys.exit(command())
