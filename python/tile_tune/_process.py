"""The `tile-tune` command as a process of this one."""

import json
import subprocess

from ._errors import ToolError, error_of
from ._options import tool


def lines_of(stream):
    """What the command writes to standard error with --json, a value a line."""
    for line in stream:
        try:
            yield json.loads(line)
        except ValueError:
            yield {"severity": "notice", "message": line.rstrip("\n")}


def raise_error(diagnostics, exit_code):
    """The exception of the last error among the diagnostics."""
    for diagnostic in reversed(diagnostics):
        if diagnostic.get("severity") == "error":
            text = diagnostic["message"]
            place = diagnostic.get("place") or {}
            raise error_of(diagnostic.get("code", ""), text, diagnostic.get("note", ""), place.get("file", ""),
                           place.get("line", 0))
    raise ToolError(f"tile-tune ended with exit code {exit_code}")


def run(arguments):
    """Runs a command to its end; its JSON output. Raises what it says is wrong."""
    done = subprocess.run([tool(), *arguments, "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise_error(list(lines_of(done.stderr.splitlines())), done.returncode)
    return json.loads(done.stdout) if done.stdout else None
