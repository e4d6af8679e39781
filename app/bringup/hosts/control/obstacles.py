"""What stands against launching a server again, in words."""

from __future__ import annotations

from collections.abc import Mapping

from bringup.core.events import Server

OUTPUTS: Mapping[str, str] = {
    "readonly": "its log {path} may not be written to by us",
    "pipe": "its output goes through a pipe{reader}, which ends together with it, and no file of it is known",
    "socket": "its output goes to a socket, as under systemd: restart it there (systemctl restart)",
    "terminal": "its output goes to the terminal {path}: restart it there",
    "other": "its output cannot be seen ({path})",
}
"""Why what an output is stands against a second launch, by its kind as capture.sh names it; all others do not."""
CLOSED: Mapping[str, str] = {
    "folder": "the folder of its log {path} is gone, and a new server could not begin there: make the folder again",
    "denied": OUTPUTS["readonly"],
    "full": "the file system of its log {path} is full, and a new server could not write there: make room first",
}
"""Why a log cannot be gone on with, as capture.sh names it."""
_NAMESPACES: Mapping[str, str] = {
    "net": "a network namespace of its own: a new one would listen in that of the login",
    "user": "a user namespace of its own, and a new one would run in that of the login",
    "ipc": "an IPC namespace of its own, and a new one would run in that of the login",
    "uts": "a UTS namespace of its own (another host name), and a new one would run in that of the login",
}


def obstacle(facts: Mapping[str, str], server: Server) -> str:
    """Return what stands against a second launch, as the rest of a sentence; "" where nothing does."""
    found = _of_process(facts, server)
    if found:
        return f"{found}."
    for output in ("out", "err"):
        words = OUTPUTS.get(facts.get(f"{output}-kind", "other")) or CLOSED.get(facts.get(f"{output}-closed", ""))
        if words is not None:
            reader = facts.get("reader", "").strip().replace("\n", ", ")
            return words.format(path=facts.get(output, ""), reader=f" to {reader}" if reader else "") + "."
    return ""


def _of_process(facts: Mapping[str, str], server: Server) -> str:
    if "gone" in facts:
        return (
            f"its launcher (PID {server.pid}) has ended and its environment went with it: nothing is kept of that"
            " beforehand. Launch it where it was launched, or give the target a launch command in the configuration"
        )
    if server.launcher.bound:
        return server.launcher.bound
    if "user" in facts:
        return f"it belongs to {facts['user']}: log in as {facts['user']} to restart it"
    if facts.get("space") in _NAMESPACES:
        return f"it runs in {_NAMESPACES[facts['space']]}. Restart it from where it was launched"
    if "space" in facts:
        return "it runs in a container: restart it from there (docker restart, kubectl)"
    if not server.argv or (" " in server.argv[0] and not any(server.argv[1:])):
        return "it has replaced its command line by a title, so what it was launched with is not known"
    if "environ" in facts:
        return "its environment cannot be read"
    if "cwd-gone" in facts:
        return f"its directory {facts.get('cwd', '')} is gone"
    if "program" in facts:
        return (
            f"its program {facts['program']} is not there, where its command line and its PATH say: it was removed, or"
            " only called so. Put it there, or give the target a launch command in the configuration"
        )
    return ""
