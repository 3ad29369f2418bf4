"""The command line; the commands are the files of `commands/`."""

from __future__ import annotations

import inspect
import os
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from importlib import import_module
from typing import Any, NoReturn

from treewright._version import __version__
from treewright.cli import streams
from treewright.cli.commands import COMMANDS

EXAMPLES = "Examples\n--------\n"  # in a docstring
_given: ContextVar[tuple[str, ...]] = ContextVar("arguments", default=())


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; what goes wrong is one line on stderr, and the exit code."""
    try:
        try:
            import cyclopts
            import duckdb  # noqa: F401
            import rich  # noqa: F401
        except ModuleNotFoundError as error:
            sys.exit(f"the command line needs {error.name}: pip install 'treewright[cli]'")
        from treewright.cli.errors import Misuse, Trouble, one_line, usage_error
        from treewright.cli.tables import temporary_files

        streams.hold()
        from treewright.cli.options import RENAMED

        given = _current_names(sys.argv[1:] if arguments is None else arguments, RENAMED)
        _given.set(tuple(given))
        called = [name for name in COMMANDS if name in given[:1]]
        try:
            app = _app(called or COMMANDS)
            app(_names_as_files(given), exit_on_error=False, print_error=False, result_action="return_value")
        except (cyclopts.CycloptsError, Misuse) as error:
            said = usage_error(error, given, _options(app[called[0]] if called else app))
            _fail(f"{said} ({' '.join(['treewright', *called])} --help tells more)", 2)
        except (Trouble, OSError, ValueError, MemoryError) as error:
            _fail(one_line(error), 1)
        finally:
            temporary_files.clear()
    except KeyboardInterrupt:
        streams.tell("stopped")
        os._exit(130)  # at once: a thread that still reads would be torn down in the midst of native code


def current_command() -> str:
    """The command that is being run, as one would type it."""
    return shlex.join(["treewright", *_given.get()])


def _current_names(given: Sequence[str], renamed: Mapping[str, str]) -> list[str]:
    """The arguments with the present names of options that had others.

    >>> _current_names(["fit", "--jobs=2", "--", "--jobs"], {"--jobs": "--n-jobs"})
    ['fit', '--n-jobs=2', '--', '--jobs']
    """
    end = list(given).index("--") if "--" in given else len(given)
    parts = [argument.partition("=") for argument in given[:end]]
    return [*(renamed.get(name, name) + equals + value for name, equals, value in parts), *given[end:]]


def _names_as_files(given: Sequence[str]) -> list[str]:
    """The arguments; those behind `--` are no options, so that files may have any name.

    >>> _names_as_files(["predict", "-q", "--", "m.json", "-x.csv"])
    ['predict', '-q', '--', 'm.json', './-x.csv']
    """
    end = list(given).index("--") if "--" in given else len(given)
    names = (f"./{name}" if name.startswith("-") and name != "-" else name for name in given[end + 1 :])
    return [*given[: end + 1], *names]


def _options(command: Any) -> list[str]:
    """The names of all options of a command, or of the program."""
    arguments = command.assemble_argument_collection() if command.default_command is not None else ()
    names = [name for argument in arguments for name in argument.names if name.startswith("-")]
    return [*names, *command.help_flags, *command.version_flags]


def _fail(message: str, code: int) -> NoReturn:
    streams.tell(f"treewright: error: {message}")
    sys.exit(code)


def _app(names: Iterable[str]) -> Any:
    """The commands of these names; cyclopts reads their options from their signatures and docstrings."""
    import cyclopts
    from rich.console import Console

    outlet: Any = streams.Outlet()
    app = cyclopts.App(
        name="treewright",
        help="Decision trees that people can read, with a guarantee that they can quote.",
        version=__version__,
        help_format="markdown",
        suppress_keyboard_interrupt=False,
        console=Console(file=outlet),
    )
    for place, name in enumerate(names):
        command = getattr(import_module(f"treewright.cli.commands.{name}"), name)
        _, _, examples = (inspect.getdoc(command) or "").partition(EXAMPLES)
        # Markdown that keeps its lines (two spaces at the end) and what indents them (spaces that stay).
        lines = examples.replace("    ", 4 * "\N{NO-BREAK SPACE}").replace("\n", "  \n")
        app.command(command, name=name, sort_key=place, help_epilogue=f"**Examples**\n\n{lines}")
    return app
