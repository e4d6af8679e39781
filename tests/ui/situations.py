"""Situations before a start and within a hang, whose verdicts are set by hand: they test the screen, not the rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from timeline import START, Timeline
from ui.fakes import FakeConsole
from ui.scenes import draft_weights, lost, searching, stalled, weights
from ui.stages import DRAFT, HISTORY, MODEL, begin, connect_ranks, gpus, play

from bringup.core.events import (
    Checkpoint,
    CheckpointSeen,
    GpuApp,
    GpusSeen,
    KernelLine,
    KernelSaid,
    LinkChanged,
    LogRoom,
    PortSeen,
)
from bringup.core.verdict import Advisory, ChannelView, Countdown

LEFT_AT = START - 11_400
"""When the processes that an earlier server left behind were started."""
CHANNELS = (
    ChannelView("log", "57.4 KiB, 412 lines; 57 of 64 shards", 3.0, 3.0),
    ChannelView("bar", "64 of 64 by TP0", 64.0, 64.0),
    ChannelView("processes", "9 of the tree, 8 ranks", 1.0, 1.0),
    ChannelView("maps", "TP5 reads shard 43 of 64", 2.0, 2.0),
    ChannelView("cpu", "8.1 of 64 cores, spinning ranks", 1.0, 1.0),
    ChannelView("gpus", "8 answered in 0.2 s", 2.0, None),
    ChannelView("memory", "562 GiB, +1.2 GiB in 10 s", 2.0, 2.0),
    ChannelView("port", "30000: nobody listens yet", 2.0, None),
    ChannelView(
        "http", "root@gpu-a forbids forwarding (open failed: administratively prohibited)", None, None, open=False
    ),
    ChannelView("kernel", "dmesg: read kernel buffer failed: Operation not permitted", None, None, open=False),
)


def line_of(console: FakeConsole) -> Timeline:
    return Timeline(state=console.state, t=console.moment - START)


def holders() -> FakeConsole:
    """No server yet; orphans hold four GPUs, a colleague one, and the port is taken."""
    line = line_of(searching())
    gpus(line, [540] * 8, utilization=0, power=78.0)
    rank = "sglang::scheduler_TP{}"
    apps = [
        GpuApp(pid=41_210 + gpu, gpu=gpu, used=61_000, title=rank.format(gpu), user="root", orphan=True, since=LEFT_AT)
        for gpu in range(4)
    ]
    apps.append(GpuApp(5151, 6, 8_000, "python train.py --config base.yaml", "ada", since=START - 95))
    used = dict.fromkeys(range(4), 61540) | {6: 8_540, 7: 12_300}
    rows = tuple(replace(gpu, used=used.get(gpu.index, 540)) for gpu in line.state.gpu.gpus)
    line.add(GpusSeen(at=line.now, gpus=rows, apps=tuple(apps)))
    line.add(PortSeen(at=line.now, port=30_000, pid=812, title="nginx: master process"))
    return FakeConsole(line.state, line.now + 1)


def early() -> FakeConsole:
    """A launch that will fail: an orphan of the last start holds the memory of a GPU that it needs."""
    line = gpus(begin(), [640] * 8).wait(5)
    orphan = GpuApp(4242, 2, 61_000, "sglang::scheduler_TP2", "root", orphan=True, since=LEFT_AT)
    rows = tuple(replace(gpu, used=61_640) if gpu.index == 2 else gpu for gpu in line.state.gpu.gpus)
    line.add(GpusSeen(at=line.now, gpus=rows, apps=(orphan,)))
    line.add(CheckpointSeen(at=line.now, checkpoint=TARGET))
    return play(line, after=1)


TARGET = Checkpoint(
    role="target", folder=MODEL, model=MODEL, size=594 << 30, filesystem="nfs4", remote=True,
    present=tuple(f"model-{number:05}-of-00064.safetensors" for number in range(1, 64)),
    expected=tuple(f"model-{number:05}-of-00064.safetensors" for number in range(1, 65)), basis="numbering",
    architectures=("KimiK25ForConditionalGeneration",),
)  # fmt: skip
SMALL = Checkpoint(
    role="draft", folder=DRAFT, model=DRAFT, size=2 << 30, filesystem="ext4", present=("model.safetensors",),
    architectures=("LlamaForCausalLMEagle3",),
)  # fmt: skip


def countdown() -> FakeConsole:
    """The loaded ranks wait for TP5 behind a barrier that gives up, sooner than TP5 may be done."""
    console = weights()
    line = line_of(console)
    line.add(CheckpointSeen(at=line.now, checkpoint=TARGET), CheckpointSeen(at=line.now, checkpoint=SMALL))
    console.change(line.state)
    console.remember(HISTORY)
    return console.judge(
        eta_s=(150.0, 260.0),
        eta_basis="last three starts: 4-11 min",
        countdown=Countdown("the load barrier", 200.0, 480.0, (5,), "300 s before SGLang 0.5.6"),
        channels=CHANNELS,
        warnings=(
            Advisory("missing-shards", "1 of 64 shards of the target is not on the disk", "Download it again."),
            Advisory("channel-missing", "http: forbidden"),
        ),
    )


def memory() -> FakeConsole:
    """Nothing but the GPUs tells how far the ranks are."""
    line = connect_ranks(begin())
    for step in range(1, 20):
        gpus(line, [640 + 3_000 * step - 400 * (number % 3) for number in range(8)])
    console = play(gpus(line.wait(2), [61_000 - 1_900 * number for number in range(8)]), after=1)
    views = [
        replace(view, progress=0.62 - 0.02 * view.rank, source="memory", note="59 of 96 GiB")
        for view in console.verdict().ranks
    ]
    return console.judge(ranks=tuple(views))


def trouble() -> FakeConsole:
    """One rank of each kind of trouble."""
    console = stalled()
    kinds = ("", "error", "uninterruptible", "stopped", "zombie", "gone", "", "")
    views = [replace(view, trouble=kind) for view, kind in zip(console.verdict().ranks, kinds, strict=True)]
    return console.judge(ranks=tuple(views), failed_ranks=(2, 3))


def waits_for_one() -> FakeConsole:
    console = weights()
    return console.judge(
        state="stalled",
        summary="Stalled while loading target weights: nothing has moved on any channel for 16 min. TP5 not done.",
        eta_s=None,
        hang="waits-for-one",
        countdown=Countdown("the load barrier", -12.0, 480.0, (5,)),
        evidence=("gpus: 7 of 8 at full utilisation and 17 % of their power", "maps: TP5 shard 43/64, 16 min ago"),
        channels=CHANNELS,
    )


def hang() -> FakeConsole:
    """A rank went without a word; the kernel log knows why."""
    console = stalled()
    line = line_of(console)
    text = "Out of memory: Killed process 104 (sglang::schedul) total-vm:812340216kB, anon-rss:481203988kB"
    line.add(KernelSaid(at=line.now, lines=(KernelLine(at=line.now - 40, kind="oom", text=text, pid=104),)))
    console.change(line.state)
    return console.judge(hang="gone", failed_ranks=(3,), channels=CHANNELS)


def to_come() -> FakeConsole:
    """The draft loads; what is still to come lies as ghosts behind it."""
    return draft_weights().remember(HISTORY)


def stale() -> FakeConsole:
    """The connection stands, and nothing comes: the last picture stays, with its age."""
    console = weights()
    console.wait(45)
    return console


def reconnecting() -> FakeConsole:
    """The connection was lost, and is being made again."""
    console = lost()
    line = line_of(console)
    line.add(LinkChanged(at=console.moment, status="connecting", why=console.state.link.why))
    console.change(line.state)
    return console


def refused() -> FakeConsole:
    """The host lets us in no more: only the operator can mend that, and says when to try again."""
    console = lost()
    line = line_of(console)
    line.add(LinkChanged(at=console.moment, status="refused", why="gpu-a did not accept any key of root."))
    console.change(line.state)
    return console


def disk_full() -> FakeConsole:
    """The disk of the log is full: it stands still, and that is said."""
    console = weights()
    line = line_of(console)
    line.add(LogRoom(at=console.moment, full="/var/log"))
    console.change(line.state)
    console.write(b"--- bringup, 14:49:03: the disk of /var/log is full; what is written to the log now is lost ---")
    return console


SITUATIONS: dict[str, Callable[[], FakeConsole]] = {
    scene.__name__: scene
    for scene in (
        holders,
        early,
        countdown,
        memory,
        trouble,
        waits_for_one,
        hang,
        to_come,
        stale,
        reconnecting,
        refused,
        disk_full,
    )
}
