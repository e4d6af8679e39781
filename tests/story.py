"""A start told second by second: what happens, and what must be said; in between, at no second may the screen be wrong.

`Story` is a timeline that lives: while it waits, its ranks go on with what they do, the host is sampled once a second,
and every second the verdict is held against what is true in the story.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Self

from timeline import FOLDER, ROOT, Timeline

from bringup.core.decode import Decoder
from bringup.core.events import Event, Launch, PhaseEnded, Process, Reached
from bringup.core.verdict import Verdict
from bringup.engines import load_engines, load_wrappers
from bringup.report.contract import to_json

ENGINES, WRAPPERS = load_engines(), load_wrappers()
GOING = frozenset({"waiting", "starting", "slow"})
AFTER_WEIGHTS = ("kv-cache", "graphs", "warmup", "serving")
PAGES = 5000
"""Page faults a second of a rank that works."""


@dataclass
class Story(Timeline):
    """A timeline with a truth of its own."""

    serves: bool = False
    """It can answer requests: only then may it be called ready or degraded."""
    engine: str = "sglang"
    sampled: bool = True
    """The processes are sampled every second, once there are any."""
    busy: set[int] = field(default_factory=set)
    """Ranks that fault pages in."""
    spinning: set[int] = field(default_factory=set)
    """Ranks that use the CPU and do nothing."""
    paces: dict[int, float] = field(default_factory=dict)
    """Shards a second that a rank maps, one after the other."""
    places: dict[int, float] = field(default_factory=dict)
    shards: int = 64
    folder: str = FOLDER
    said: frozenset[str] = GOING
    """States that may be said now."""
    _told: set[tuple[int, str, str]] = field(default_factory=set)
    _loads: dict[int, int] = field(default_factory=dict)
    _shown: dict[tuple[Any, ...], float] = field(default_factory=dict)
    _decoder: Decoder = field(default_factory=lambda: Decoder(ENGINES, WRAPPERS))

    # --- what happens ---------------------------------------------------------------------------------------

    def add(self, *events: Event) -> Self:
        """Fold events in, and remember what was really said and done."""
        for event in events:
            if isinstance(event, Launch):
                self._told, self._loads, self.serves = set(), {}, False
            if isinstance(event, PhaseEnded):
                self._remember(event)
            if isinstance(event, Reached) and event.milestone == "ready":
                self.serves = True
        super().add(*events)
        return self

    def _remember(self, event: PhaseEnded) -> None:
        labels = dict(event.labels)
        rank = labels.get("tp", 0) + labels.get("pp", 0) * self.state.attempt.tp
        role = event.role or "target"
        if event.phase == "weights" and event.role is None and not event.again:
            role = "target" if self._loads.get(rank, 0) == 0 else "draft"
            self._loads[rank] = self._loads.get(rank, 0) + 1
        self._told.add((rank, event.phase, role))

    def line(self, text: str, rank: int | None = None) -> Self:
        """Let SGLang print a line with its header, as bytes."""
        stamp = datetime.fromtimestamp(self.now, UTC).strftime("%Y-%m-%d %H:%M:%S")
        name = "" if rank is None else f" TP{rank}"
        return self.raw(f"[{stamp}{name}] {text}\n")

    def raw(self, text: str) -> Self:
        """Let bytes arrive in the log."""
        data = text.encode()
        return self.add(*self._decoder.feed(data, self.now), *self._decoder.peek(self.now))

    def child(self, pid: int, comm: str, **more: Any) -> Self:
        """Let a process that is no rank run below the launcher, or change it."""
        old = self.tree.get(pid)
        values = {"pid": pid, "ppid": ROOT, "start": 3, "title": comm, "comm": comm, "state": "R"}
        if old is not None:
            values = {name: getattr(old, name) for name in Process.__slots__}
        self.tree[pid] = Process(**{**values, **more})
        return self

    def working(self, ranks: Iterable[int]) -> Self:
        """Let these ranks touch memory from now on, and no others."""
        self.busy = set(ranks)
        return self

    def wait(self, seconds: float) -> Self:
        """Let seconds pass, each of them looked at."""
        for _ in range(round(seconds)):
            self.t += 1.0
            self._live()
            self.look()
        return self

    def _live(self) -> None:
        """What the processes do in a second, and the look at them."""
        for rank in range(len(self.tree)):
            process = self.tree.get(ROOT + 1 + rank)
            if process is None or process.state in ("T", "Z", "D"):
                continue
            if rank in self.spinning:
                self.change(rank, cpu_s=process.cpu_s + 1.0)
            if rank in self.busy:
                self.fault_in(rank, PAGES)
            if rank in self.paces:
                self.places[rank] = min(self.shards, self.places.get(rank, 0.0) + self.paces[rank])
                self.map(rank, max(1, round(self.places[rank] + 0.5)), of=self.shards, folder=self.folder)
        if self.sampled and self.state.sampled_at is not None:
            self.sample()

    # --- what must be said ----------------------------------------------------------------------------------

    def look(self) -> Verdict:
        """Judge now, and hold the verdict against the truth."""
        verdict = self.verdict()
        where = f"after {self.t:.0f} s: {verdict.state}: {verdict.summary}"
        assert verdict.state in self.said, f"{where} (only {sorted(self.said)} would be true)"
        assert self.serves or verdict.state not in ("ready", "degraded"), f"{where} (it does not serve)"
        assert verdict.summary.endswith("."), where
        assert verdict.eta_s is None or 0.0 <= verdict.eta_s[0] <= verdict.eta_s[1], where
        assert verdict.hang == "" or verdict.state in ("stalled", "failed", "degraded"), where
        assert all(view.quiet_s is None or view.quiet_s >= 0.0 for view in verdict.ranks), where
        self._weights_hold(verdict, where)
        self._bars_hold(verdict, where)
        return verdict

    def expect(self, *states: str, within: float = 0.0, **facts: Any) -> Verdict:
        """Require one of these states, within seconds; from then on nothing else may be said, until more is expected.

        Facts are fields of the verdict; `words` must stand in its sentence, `cause` and `warnings` are kinds.
        """
        wanted = frozenset(states) | (GOING if GOING & set(states) else frozenset())
        before, self.said = self.said, self.said | wanted
        waited = 0.0
        while self.look().state not in states and waited < within:
            self.wait(1.0)
            waited += 1.0
        self.said = wanted
        verdict = self.look()
        where = f"after {self.t:.0f} s, {waited:.0f} s of waiting: {verdict.state}: {verdict.summary}"
        assert verdict.state in states, f"{where} (wanted {states}, before it {sorted(before)})"
        for name, value in facts.items():
            assert _fact(verdict, name, value), f"{where}: {name} is {getattr(verdict, name, None)!r}, not {value!r}"
        assert json.loads(to_json(verdict))["state"] == verdict.state
        return verdict

    def _weights_hold(self, verdict: Verdict, where: str) -> None:
        """Nobody is called done, or the phase over, before the rank's own word."""
        role = verdict.role or "target"
        done = set(dict(verdict.ranks_done).get("weights", ()))
        told = {rank for rank, phase, of in self._told if (phase, of) == ("weights", role)}
        if self.engine == "sglang":
            assert done <= told, f"{where}: ranks {sorted(done - told)} are called done"
            target = {rank for rank, phase, of in self._told if (phase, of) == ("weights", "target")}
            missing = {view.rank for view in verdict.ranks} - target
            if self._told and missing:
                assert verdict.phase not in AFTER_WEIGHTS, f"{where}: {sorted(missing)} still load"

    def _bars_hold(self, verdict: Verdict, where: str) -> None:
        """Nothing runs backwards within the weights of one model, and nothing is full before its rank is."""
        for view in verdict.ranks:
            if view.phase != "weights" or view.progress is None:
                continue
            key = (verdict.attempt, view.rank, view.role)
            assert view.progress >= self._shown.get(key, 0.0), f"{where}: the bar of {view.rank} runs backwards"
            self._shown[key] = view.progress
            told = (view.rank, "weights", view.role or "target") in self._told
            assert view.progress < 1.0 or told or self.engine != "sglang", f"{where}: the bar of {view.rank} is full"
        if verdict.bar is not None and verdict.phase == "weights":
            key = (verdict.attempt, "bar", verdict.role, verdict.bar[1])
            assert verdict.bar[0] >= self._shown.get(key, 0.0), f"{where}: the bar runs backwards"
            self._shown[key] = verdict.bar[0]


def _fact(verdict: Verdict, name: str, value: Any) -> bool:
    match name:
        case "words":
            return all(
                word.lower() in verdict.summary.lower() for word in ((value,) if isinstance(value, str) else value)
            )
        case "cause":
            return value == (verdict.cause.kind if verdict.cause is not None else None)
        case "warnings":
            return set(value) <= {advisory.kind for advisory in verdict.warnings}
        case "done":
            return all(dict(verdict.ranks_done).get(phase, ()) == tuple(ranks) for phase, ranks in value.items())
        case "stragglers":
            return tuple(view.rank for view in verdict.ranks if view.straggler) == tuple(value)
        case _:
            return bool(getattr(verdict, name) == value)


def loading(ranks: int = 8, **launch: Any) -> Story:
    """Return a start of `ranks` ranks with processes, that has just begun to load the target's weights."""
    everyone = range(ranks)
    story = Story().found(tp=ranks).spawn(ranks)
    story.wait(20).launch(tp=ranks, **launch).wait(5).begin("distributed", everyone).wait(5)
    return story.end("distributed", everyone, seconds=5.0).wait(1).begin("weights", everyone)


def loaded(ranks: int = 2, **launch: Any) -> Story:
    """Return a start whose target has been loaded."""
    story = loading(ranks, **launch)
    return story.working(range(ranks)).wait(30).end("weights", range(ranks), seconds=30.0)


def serving(ranks: int = 2, **launch: Any) -> Story:
    """Return a start that has become ready, with nobody at work any more."""
    everyone = range(ranks)
    story = loaded(ranks, **launch).end("kv-cache", everyone).begin("graphs", everyone, role="target", part="decode")
    story.wait(10).end("graphs", everyone, role="target", part="decode", seconds=10.0).reached("scheduler-up").wait(1)
    story.reached("http-up").wait(4).reached("ready")
    story.expect("ready", within=2, phase="serving", words="Ready")
    return story.working(())
