"""The command line; the commands are the files of `commands/`."""

from __future__ import annotations

import inspect
import os
import shlex
import sys
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from importlib import import_module
from typing import Any, NoReturn

from treewright._version import __version__
from treewright.cli import streams
from treewright.cli.commands import COMMANDS

EXAMPLES = "Examples\n--------\n"  # in a docstring
_arguments: ContextVar[tuple[str, ...]] = ContextVar("arguments", default=())


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; an error is one line on stderr, and the exit code."""
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
        words = sys.argv[1:] if arguments is None else arguments
        _arguments.set(tuple(words))
        command = [name for name in COMMANDS if name in words[:1]]
        try:
            app = _app(command or COMMANDS)
            app(_names_as_files(words), exit_on_error=False, print_error=False, result_action="return_value")
        except (cyclopts.CycloptsError, Misuse) as error:
            message = usage_error(error, words, _options(app[command[0]] if command else app))
            _fail(f"{message} ({' '.join(['treewright', *command])} --help tells more)", 2)
        except (Trouble, OSError, ValueError, MemoryError) as error:
            _fail(one_line(error), 1)
        finally:
            temporary_files.clear()
    except KeyboardInterrupt:
        streams.tell("stopped")
        os._exit(130)  # at once: a thread that still reads would be torn down in the midst of native code


def current_command() -> str:
    """The command that is being run, as a line for a shell."""
    return shlex.join(["treewright", *_arguments.get()])


def _names_as_files(words: Sequence[str]) -> list[str]:
    """The arguments, those behind `--` as files, so that these may have any name.

    >>> _names_as_files(["predict", "-q", "--", "m.json", "-x.csv"])
    ['predict', '-q', '--', 'm.json', './-x.csv']
    """
    end = words.index("--") if "--" in words else len(words)
    names = (f"./{name}" if name.startswith("-") and name != "-" else name for name in words[end + 1 :])
    return [*words[: end + 1], *names]


def _options(command: Any) -> list[str]:
    """The names of all options of a command, or of the program."""
    arguments = command.assemble_argument_collection() if command.default_command is not None else ()
    names = [name for argument in arguments for name in argument.names if name.startswith("-")]
    return [*names, *command.help_flags, *command.version_flags]


def _fail(message: str, code: int) -> NoReturn:
    streams.tell(f"treewright: error: {message}")
    sys.exit(code)


def _app(names: Iterable[str]) -> Any:
    """The program with these commands; cyclopts reads options from signatures and docstrings."""
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
