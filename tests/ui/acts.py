"""Situations around stops and restarts: launchers of every kind, actions half done, orphans."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from timeline import ROOT, START, Timeline
from ui.fakes import FakeConsole
from ui.scenes import OTHER, graphs, ready, strangers

from bringup.core.events import ActionStep, GpusSeen, Launcher, PortSeen, Process, ProcessesSeen, ServerFound
from bringup.hosts.control import Claim
from bringup.session.console import Orphan, Unfinished

UNIT = Launcher(
    kind="systemd",
    name="sglang.service",
    words="the systemd service sglang.service",
    detail="Its restart policy is always.",
    stop="systemctl stop sglang.service",
    start="systemctl start sglang.service",
    respawns=True,
    scope="cgroup",
    sentence="systemctl stop ends everything in the unit and keeps it down; a plain kill may be answered by a restart.",
)
PANE = Launcher(
    kind="tmux",
    name="llm:0.1",
    words="the tmux pane llm:0.1",
    sentence="The processes are signalled; a restart runs in a new window of the same tmux session.",
)
LOOP = Launcher(
    kind="supervisor",
    name="bash /opt/serve.sh",
    words="the script bash /opt/serve.sh",
    respawns=True,
    parent=90,
    sentence="The script above it (PID 90) has a loop and can start it again after a stop.",
)
SIDECAR = Process(pid=61, ppid=1, start=4, title="/usr/bin/gpu-exporter --port 9400", user="root")


def launched(launcher: Launcher, console: FakeConsole | None = None) -> FakeConsole:
    """A server that is known to be launched this way."""
    console = console or graphs()
    server = console.state.server
    assert server is not None
    line = Timeline(state=console.state)
    line.add(ServerFound(at=console.moment, server=replace(server, launcher=launcher)))
    console.change(line.state)
    return console


def in_unit() -> FakeConsole:
    """A systemd service that starts again what is killed, with a neighbour in its unit."""
    console = launched(UNIT)
    console.planned = {
        "ways": ("OWN", "TERM", "INT", "KILL"),
        "stop_command": UNIT.stop,
        "start_command": UNIT.start,
        "swept": (SIDECAR,),
        "argv": (),
    }
    return console


def in_pane() -> FakeConsole:
    """A server in a pane of tmux, with a tee that is left alone and a secret on its command line."""
    console = launched(PANE)
    state, server = console.state, console.state.server
    assert server is not None
    argv = (*server.argv, "--api-key", "sk-verysecret12345")
    console.change(replace(state, server=replace(server, argv=argv)))
    console.bystanders = (Process(pid=31, ppid=1, start=1, title="tee kimi.log", user="root"),)
    console.planned = {"log_fate": "It goes on in /var/log/sglang/kimi.log, as it did before."}
    return console


def advance(
    console: FakeConsole,
    step: str,
    *,
    left: float | None = None,
    pids: set[int] | None = None,
    name: str = "stopping",
    action: Literal["stop", "restart"] = "stop",
) -> None:
    """Let a stop go on: what is done now, and which processes still run and hold their memory."""
    state = console.state
    line = Timeline(state=state, t=console.moment - START)
    if pids is not None:
        running = tuple(each for each in state.processes if each.pid in pids)
        line.add(ProcessesSeen(at=line.now, root=ROOT, processes=running))
        apps = tuple(app for app in state.gpu.apps if app.pid in pids)
        line.add(GpusSeen(at=line.now, gpus=state.gpu.gpus, apps=apps))
    line.add(PortSeen(at=line.now, port=30000, pid=ROOT if pids is None or ROOT in pids else None))
    line.add(ActionStep(at=line.now, action=action, step=step, left=left, name=name))
    console.change(line.state)


def serving() -> FakeConsole:
    """A server that is ready, and whose port is its own."""
    console = ready()
    line = Timeline(state=console.state, t=console.moment - START)
    line.add(PortSeen(at=line.now, port=30000, pid=ROOT))
    console.change(line.state)
    return console


def with_orphans() -> FakeConsole:
    """Another server, and four orphans of which two may be cleared."""
    console = strangers()
    assert console.state.server is not None
    line = Timeline(state=console.state)
    line.add(ServerFound(at=console.moment, server=console.state.server, others=(OTHER,)))
    console.change(line.state)
    console.orphaned = (
        orphan(4242, "sglang::scheduler_TP2", 61_000, 11_520.0),
        orphan(4243, "sglang::scheduler_TP3", 60_400, 11_520.0),
        orphan(
            5020, "VLLM::Worker_TP0", 38_000, 93_000.0, user="ada", why="It belongs to ada, and you are root there."
        ),
        orphan(5099, "sglang::detokenizer", None, 60.0, why="It answers over HTTP on port 8001: it serves somebody."),
    )
    return console


def orphan(pid: int, title: str, mib: int | None, age: float, *, user: str = "root", why: str = "") -> Orphan:
    process = Process(pid=pid, ppid=1, start=pid, title=title, user=user)
    return Orphan(process, "sglang", age=age, gpu_mib=mib, memory="held" if mib else "none", why_not=why)


def cut(**more: object) -> Unfinished:
    """A restart that a lost connection left between the stop and the launch."""
    values: dict[str, object] = {
        "claim": Claim("/tmp/bringup-0/100-1", "word"),
        "action": "restart",
        "step": "waiting",
        "about": "the sglang server on port 30000 (PID 100)",
        "server": (100, 1),
        "port": 30000,
        "who": "ada@laptop",
        "age": 140,
        "kept": True,
        **more,
    }
    return Unfinished(**values)  # type: ignore[arg-type]
