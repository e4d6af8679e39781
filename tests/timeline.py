"""A small builder of event timelines: a start told in a few lines, folded into a state, judged at a moment."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

from bringup.core.assess import assess
from bringup.core.events import (
    Bar,
    Ending,
    Event,
    Fault,
    Gpu,
    GpuApp,
    GpusSeen,
    Labels,
    Launch,
    LinesRead,
    PhaseBegan,
    PhaseEnded,
    Process,
    ProcessesSeen,
    Reached,
    Server,
    ServerFound,
    ServerGone,
)
from bringup.core.policy import Policy
from bringup.core.reduce import reduce
from bringup.core.state import State
from bringup.core.verdict import Verdict
from bringup.engines.patience import load_policy

START = 1_000_000.0
"""Epoch seconds at which every timeline begins; the builder counts from there."""
ROOT = 100
FOLDER = "/models/target"


def tp(rank: int) -> Labels:
    """Return the labels of a tensor-parallel rank."""
    return (("tp", rank),)


@dataclass
class Timeline:
    """Events in order; `t` counts seconds from the start of the server."""

    state: State = field(default_factory=lambda: State(node="gpu-a"))
    t: float = 0.0
    policy: Policy = field(default_factory=load_policy)
    tree: dict[int, Process] = field(default_factory=dict)

    @property
    def now(self) -> float:
        """Epoch seconds of the moment reached."""
        return START + self.t

    def add(self, *events: Event) -> Self:
        """Fold events in."""
        for event in events:
            self.state = reduce(self.state, event)
        return self

    def wait(self, seconds: float) -> Self:
        """Let time pass."""
        self.t += seconds
        return self

    def found(self, **more: Any) -> Self:
        """Let discovery find the server."""
        server = Server(
            **{"pid": ROOT, "start": 1, "engine": "sglang", "argv": ("python",), "started_at": START, **more}
        )
        return self.add(ServerFound(at=self.now, server=server))

    def launch(self, **more: Any) -> Self:
        """Let the server print its arguments."""
        values = {"engine": "sglang", "model": FOLDER, "port": 30000, **more}
        return self.add(Launch(at=self.now, **values)).bytes()

    def bytes(self, size: int = 100, lines: int = 1) -> Self:
        """Let the log grow."""
        return self.add(LinesRead(at=self.now, size=size, lines=lines, unknown=0))

    def begin(self, phase: Any, ranks: Any = (None,), **more: Any) -> Self:
        """Let ranks begin a phase; None is a line without a label."""
        for rank in ranks:
            labels = () if rank is None else tp(rank)
            self.add(PhaseBegan(at=self.now, labels=labels, phase=phase, **more))
        return self.bytes()

    def end(self, phase: Any, ranks: Any = (None,), **more: Any) -> Self:
        """Let ranks end a phase."""
        for rank in ranks:
            labels = () if rank is None else tp(rank)
            self.add(PhaseEnded(at=self.now, labels=labels, phase=phase, **more))
        return self.bytes()

    def bar(self, done: int, total: int, kind: Any = "shards", **more: Any) -> Self:
        """Let the bar be drawn."""
        return self.add(Bar(at=self.now, kind=kind, done=done, total=total, **more)).bytes()

    def fault(self, kind: str, text: str = "boom", rank: int | None = None, **more: Any) -> Self:
        """Let an error be printed."""
        labels = () if rank is None else tp(rank)
        return self.add(Fault(at=self.now, kind=kind, text=text, labels=labels, **more)).bytes()

    def ending(self, how: str, **more: Any) -> Self:
        """Let the server say that it ends."""
        return self.add(Ending(at=self.now, how=how, **more)).bytes()

    def reached(self, *milestones: str) -> Self:
        """Let the main process reach milestones."""
        return self.add(*(Reached(at=self.now, milestone=name) for name in milestones)).bytes()

    def spawn(self, ranks: int, title: str = "sglang::scheduler_TP{}") -> Self:
        """Let the launcher and the processes of `ranks` ranks run."""
        self.tree[ROOT] = Process(pid=ROOT, ppid=1, start=1, title="python -m sglang.launch_server", state="S")
        for rank in range(ranks):
            pid = ROOT + 1 + rank
            self.tree[pid] = Process(pid=pid, ppid=ROOT, start=2, title=title.format(rank), state="R", minflt=1000)
        return self.sample()

    def change(self, rank: int | None, **more: Any) -> Self:
        """Change what /proc says of a rank's process, or of the launcher."""
        pid = ROOT if rank is None else ROOT + 1 + rank
        self.tree[pid] = replace(self.tree[pid], **more)
        return self

    def fault_in(self, rank: int, pages: int = 5000) -> Self:
        """Let a rank touch memory: work that shows in its page faults."""
        return self.change(rank, minflt=self.tree[ROOT + 1 + rank].minflt + pages)

    def map(self, rank: int, *shards: int, of: int = 64, folder: str = FOLDER) -> Self:
        """Let a rank have these shards mapped."""
        return self.change(rank, shards=tuple(f"{folder}/model-{n:05}-of-{of:05}.safetensors" for n in shards))

    def kill(self, rank: int | None) -> Self:
        """Let the process of a rank (or the launcher) vanish."""
        self.tree.pop(ROOT if rank is None else ROOT + 1 + rank)
        return self

    def gpus(self, *utilization: int, power: float = 130.0, limit: float = 700.0, used: int = 9000) -> Self:
        """Let nvidia-smi answer: one GPU for each rank, held by it alone."""
        gpus = tuple(
            Gpu(index=rank, used=used, total=143_771, utilization=share, power=power, power_limit=limit)
            for rank, share in enumerate(utilization)
        )
        apps = tuple(GpuApp(pid=ROOT + 1 + rank, gpu=rank, used=used) for rank in range(len(gpus)))
        return self.add(GpusSeen(at=self.now, gpus=gpus, apps=apps))

    def burn(self, *ranks: int, cores: float = 1.0) -> Self:
        """Let ranks use CPU since the last sample a second ago."""
        for rank in ranks:
            self.change(rank, cpu_s=self.tree[ROOT + 1 + rank].cpu_s + cores)
        return self

    def sample(self) -> Self:
        """Let the processes be sampled; a launcher that is missing is gone."""
        self.add(ProcessesSeen(at=self.now, root=ROOT, processes=tuple(self.tree.values())))
        if ROOT not in self.tree and self.state.gone_at is None:
            self.add(ServerGone(at=self.now, pid=ROOT))
        return self

    def verdict(self, after: float = 0.0) -> Verdict:
        """Judge the state, some seconds later."""
        return assess(self.state, self.now + after, self.policy)


def loading(ranks: int = 8, **launch: Any) -> Timeline:
    """Return a start of `ranks` ranks that has just begun to load the target's weights."""
    everyone = range(ranks)
    line = Timeline().launch(tp=ranks, **launch).wait(20)
    line.begin("distributed", everyone).wait(5).end("distributed", everyone, seconds=5.0)
    return line.wait(1).begin("weights", everyone)


def serving(ranks: int = 2, **launch: Any) -> Timeline:
    """Return a start of `ranks` ranks that has become ready."""
    everyone = range(ranks)
    line = loading(ranks, **launch).wait(30).end("weights", everyone, seconds=30.0, model_class="LlamaForCausalLM")
    line.end("kv-cache", everyone).begin("graphs", everyone, role="target", part="decode").wait(10)
    line.end("graphs", everyone, role="target", part="decode", seconds=10.0).reached("scheduler-up").wait(1)
    return line.reached("http-up").wait(4).reached("ready")
