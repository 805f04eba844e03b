"""The `tile-tune` command as a process beside this one: all that compiles for others, searches and keeps records."""

import json
import re
import signal
import subprocess
import tempfile
import threading

from ._errors import ToolError, error_of
from ._options import tool


class Interrupted(Exception):
    """The command was interrupted. `args`: its output, or None, and by whom: "Ctrl-C" or "progress"."""


def _value_of(line):
    try:
        return json.loads(line)
    except ValueError:
        return {"severity": "notice", "message": line.rstrip("\n")}


# What the command line calls what is an argument here.
_ARGUMENTS = {"--db": "database=", "--time": "seconds=", "--trials": "trials=", "--seed": "seed=", "--threads": "threads=",
              "--name": "name="}


def _for_python(text):
    if text.startswith("see tile-tune "):
        return ""
    return re.sub("--[a-z]+", lambda option: _ARGUMENTS.get(option[0], option[0]), text)


def _raise_error(said, exit_code):
    """The last error that the command told of, in its words."""
    for one in reversed(said):
        if one.get("severity") == "error":
            raise error_of(one.get("code", ""), _for_python(one["message"]), _for_python(one.get("note", "")),
                           one.get("file", ""), one.get("line", 0))
    raise ToolError(f"tile-tune ended with exit code {exit_code}")


def opened(make, *arguments, **options):
    """What of the machine's a command needs: a process, a temporary file or folder."""
    try:
        return make(*arguments, **options)
    except OSError as error:
        raise error_of("cannot-start", f"tile-tune cannot be started: {error}") from error


def run(arguments, on_progress=None):
    """Runs a command to its end; its JSON output, or the exception that stands for its error.

    Ctrl-C ends a search, which then tells what it found: Interrupted has it. A second one ends the command. An
    `on_progress` that returns False ends a search, too, and so does one that raises.
    """
    said, raised = [], []
    with opened(tempfile.TemporaryFile, "w+", encoding="utf-8") as output:
        # In a group of its own: Ctrl-C in a terminal is for this process, which passes it on once.
        process = opened(subprocess.Popen, [tool(), *arguments, "--json"], stdin=subprocess.DEVNULL, stdout=output,
                         stderr=subprocess.PIPE, text=True, encoding="utf-8", start_new_session=True)
        interrupted_by = None

        def interrupt(by):
            nonlocal interrupted_by
            if not interrupted_by:
                interrupted_by = by
                process.send_signal(signal.SIGINT)

        def goes_on(progress):
            try:
                return not on_progress or on_progress(progress) is not False
            except Exception as error:
                raised.append(error)
                return False

        listens, heard = threading.Event(), threading.Event()

        def listen():
            listens.set()
            try:
                for line in process.stderr:
                    value = _value_of(line)
                    if "progress" not in value:
                        said.append(value)
                    elif not interrupted_by and not goes_on(value["progress"]):
                        interrupt("progress")
            finally:
                heard.set()

        def wait():
            if listens.wait(timeout=5):  # not where Ctrl-C came before there was a thread
                heard.wait()  # a join() that Ctrl-C cuts off takes the thread for ended, until Python 3.13
            process.wait()

        # A thread of its own, since reading in this one cannot be taken up again where Ctrl-C cut it off.
        listener = threading.Thread(target=listen, daemon=True)
        try:
            listener.start()
            wait()
        except KeyboardInterrupt:
            interrupt("Ctrl-C")
            wait()
        finally:
            if process.poll() is None:
                process.kill()
            wait()
            process.stderr.close()
        output.seek(0)
        text = output.read()
    result = json.loads(text) if text else None
    if raised:
        raise raised[0]
    if interrupted_by:
        raise Interrupted(result, interrupted_by)
    if process.returncode != 0:
        _raise_error(said, process.returncode)
    return result
