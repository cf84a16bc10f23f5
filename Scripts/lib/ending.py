"""How a script that starts servers ends, whoever or whatever ends it: everything it started is ended, its folder is gone."""
import contextlib
import glob
import os
import shutil
import signal
import sys
import tempfile

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# How many `unbroken` are open, and the signal that came meanwhile.
_open, _came = 0, None


def end_on_signals():
    """As on an error; whatever comes while all is being ended changes nothing."""
    for each in SIGNALS:
        signal.signal(each, _leave)


def _leave(number, _):
    global _came
    if _open:
        _came = number
        return
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    sys.exit(128 + number)


@contextlib.contextmanager
def unbroken():
    """No signal comes between a process that starts and the note of how it is ended. For the main thread."""
    global _open
    _open += 1
    try:
        yield
    finally:
        _open -= 1
        if _came and not _open:
            _leave(_came, None)


def folder(ends, name, keeps, say):
    """A new one; when `ends` unwinds it is kept if `keeps()`, else removed."""
    with unbroken():
        directory = tempfile.mkdtemp(prefix=f"pushfleet-{name}-")
        ends.push(lambda _, error, __: say(f"kept: {directory}") if keeps() else remove(directory, error))
    os.chmod(directory, 0o755)
    return directory


def remove(directory, error, is_good=True):
    """After telling what the latest logs end with, if the script went wrong by itself."""
    was_interrupted = isinstance(error, SystemExit) and isinstance(error.code, int)
    logs = glob.glob(os.path.join(directory, "*.log")) + glob.glob(os.path.join(directory, "simulator", "log"))
    is_good = is_good and error is None
    for path in [] if is_good or was_interrupted else sorted(logs, key=os.path.getmtime)[-12:]:
        with open(path, encoding="utf-8", errors="replace") as file:
            print(f"--- {os.path.relpath(path, directory)}", *file.read().splitlines()[-8:], sep="\n", file=sys.stderr)
    shutil.rmtree(directory)
