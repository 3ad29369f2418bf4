"""The command line: `treewright fit`, `predict`, `show`, `demo`; one file per command."""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn

from treewright._version import __version__


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

        try:
            _app()(arguments, exit_on_error=False, print_error=False, result_action="return_value")
        except (cyclopts.CycloptsError, Misuse) as error:
            _fail(f"{usage_error(error)} ({_help_call(arguments)} tells more)", 2)
        except (Trouble, OSError, ValueError, MemoryError) as error:
            _fail(one_line(error), 1)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr, flush=True)
        os._exit(130)  # at once: a thread that still reads would be torn down in the midst of native code


def _help_call(arguments: list[str] | None) -> str:
    """The call that explains the command at hand."""
    given = sys.argv[1:] if arguments is None else arguments
    command = next((each for each in given if each in ("fit", "predict", "show", "demo")), "")
    return f"treewright {command} --help".replace("  ", " ")


def _fail(message: str, code: int) -> NoReturn:
    print(f"treewright: error: {message}", file=sys.stderr)
    sys.exit(code)


def _app() -> Any:
    """The commands; cyclopts reads their options from their signatures and docstrings."""
    import cyclopts

    from treewright.cli.demo import demo
    from treewright.cli.fit import fit
    from treewright.cli.predict import predict
    from treewright.cli.show import show

    app = cyclopts.App(
        name="treewright",
        help="Decision trees that people can read.",
        version=__version__,
        suppress_keyboard_interrupt=False,
    )
    for command in (fit, predict, show, demo):
        app.command(command)
    return app
