"""The command line: ``irs_plugin COMMAND …``. Commands are loaded only when asked for."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

import irs_plugin

# Command -> one line of help; the module is irs_plugin.commands.<command with underscores>.
COMMANDS = {
    "run": "run a stock dlib script with everything it needs supplied",
    "doctor": "report versions, stand-ins in force, data found, accelerator",
    "dlib-tests": "run disentanglement_lib's own tests on this stack",
    "dsprites": "render a dSprites-compatible archive where dlib expects it",
    "configs": "list the gin files that come with the package, or print one's path",
    "sweep": "train, evaluate and compare the models of a study, resumable, on all cores or a cluster",
    "collect": "gather the results below a folder in one tidy table",
    "report": "make one page, and event files for TensorBoard, of the results below a folder",
    "table": "print the scores below a folder, models as rows, metrics as columns",
    "score": "score arrays of factors and codes saved by any framework",
}


def _parser() -> argparse.ArgumentParser:
    listing = "\n".join(f"  {name:<10} {text}" for name, text in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog="irs_plugin",
        description="Interventional robustness of learned representations.",
        epilog=f"commands:\n{listing}\n\n'irs_plugin COMMAND --help' explains each.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"irs_plugin {irs_plugin.__version__}")
    parser.add_argument("command", choices=COMMANDS, metavar="COMMAND", help="one of those below")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the command's own arguments")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; bad input ends as one sentence on standard error and exit status 2."""
    chosen = _parser().parse_args(argv)
    module = importlib.import_module(f"irs_plugin.commands.{chosen.command.replace('-', '_')}")
    parser = argparse.ArgumentParser(prog=f"irs_plugin {chosen.command}", description=module.__doc__)
    module.add_arguments(parser)
    arguments = parser.parse_args(chosen.arguments)
    try:
        return module.run(arguments)
    except (ValueError, OSError) as error:
        print(f"irs_plugin {chosen.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"irs_plugin {chosen.command}: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
