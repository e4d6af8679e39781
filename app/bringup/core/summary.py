"""The verdict in one plain sentence: what it does, how far it is, who is last, how long still."""

from __future__ import annotations

from dataclasses import dataclass

from bringup.core.causes import Outcome
from bringup.core.countdowns import is_urgent
from bringup.core.eta import Eta, current_bar
from bringup.core.hang_words import hang_words, held_words
from bringup.core.hangs import NO_HANG, Shape
from bringup.core.liveness import Liveness
from bringup.core.own_stop import by_whom, has_ended_since, launch_words
from bringup.core.phases import Position, Step, time_of
from bringup.core.ranks import name_of
from bringup.core.serving import Serving
from bringup.core.state import FaultLine, State
from bringup.core.verdict import Cause, Countdown, RankView, StateName
from bringup.core.words import CAUSES, count, doing, duration, left, names, while_doing, whole_words

_LONGEST = 160


@dataclass(frozen=True, slots=True)
class Judged:
    """All that the sentence and the evidence are made of."""

    state: State
    name: StateName
    where: Position
    now: float
    live: Liveness
    serving: Serving
    outcome: Outcome | None
    ranks: tuple[RankView, ...]
    eta: Eta | None
    no_eta: str = ""
    """Why the time left cannot be told, where there is more to say than that."""
    countdown: Countdown | None = None
    shape: Shape = NO_HANG
    later: FaultLine | None = None
    """The first error of a later start in the same log."""


def summarise(judged: Judged) -> str:
    """Return the sentence for a judged state."""
    match judged.name:
        case "waiting":
            seeks = judged.state.seeks
            return f"No server yet. {seeks}" if seeks else "Waiting: no server was started yet."
        case "failed" | "stopped":
            return _ended(judged)
        case "ready":
            return f"Ready{_on_port(judged.state)}{_after(judged)}.{_asked_to_end(judged.state)}"
        case "degraded":
            return f"Serving{_on_port(judged.state)}, but {'; '.join(judged.serving.troubles)}."
        case "standby":
            return "This worker node is up and waits; the head node decides whether the service is ready."
        case "stalled":
            place = while_doing(judged.where.phase, judged.where.role)
            return f"Stalled {place}: {hang_words(judged)}{_answers(judged)}{_running_out(judged)}"
        case "unknown" if judged.serving.ready:
            return f"The log says that a server was ready, but no process of it is found. {judged.state.seeks}".strip()
        case "unknown":
            return "Nothing can be said: no channel of the host answers."
        case _:
            return _working(judged)


def rank_names(judged: Judged, ranks: tuple[int, ...]) -> str:
    """Return ranks by the names that the engine gives them."""
    return names([name_of(judged.state.attempt, rank) for rank in ranks])


def _on_port(state: State) -> str:
    return f" on port {state.attempt.port}" if state.attempt.port is not None else ""


def _after(judged: Judged) -> str:
    began, since = judged.state.attempt.began_at, judged.serving.since
    return f" after {duration(since - began)}" if began is not None and since is not None and since >= began else ""


def _asked_to_end(state: State) -> str:
    asked = any(line.how in ("sigterm", "sigint") for line in state.attempt.endings)
    return " It was sent a signal to end a moment ago, and still answers." if asked else ""


def _ended(judged: Judged) -> str:
    cause = judged.outcome.cause if judged.outcome else None
    place = while_doing(judged.where.phase, judged.where.role)
    if judged.name == "stopped":
        return _being_stopped(judged) or _stopped(judged, cause, place)
    if cause is None:
        return f"Failed {place}."
    what = CAUSES.get(cause.kind, cause.kind)
    ranks = judged.outcome.failed_ranks if judged.outcome else ()
    many = len(judged.ranks) > 1
    who = f" on {rank_names(judged, ranks)}" if ranks and many else ""
    if cause.kind == "killed" and ranks and many:
        subject = "the process of {} was killed" if len(ranks) == 1 else "the processes of {} were killed"
        what, who = subject.format(rank_names(judged, ranks)), ""
    if cause.channel == "kernel":
        what, who = _by_kernel(judged, cause), ""
    elsewhere = " The cause lies elsewhere." if cause.secondary else ""
    if cause.kind == "unknown" and cause.line:
        return f"Failed {place}: {_whole(cause.line)}.{elsewhere}"
    if cause.kind in ("warmup", "port-in-use"):
        place = ""
    return f"Failed: {f'{what}{who} {place}'.strip()}.{elsewhere}"


def _by_kernel(judged: Judged, cause: Cause) -> str:
    """What the kernel log says went wrong with which process."""
    whose = f"the process of {rank_names(judged, (cause.rank,))}" if cause.rank is not None else "a process of it"
    match cause.kind:
        case "oom":
            return f"the kernel killed {whose} because the machine ran out of memory"
        case "gpu-fault":
            return f"the GPU driver reported a fault (Xid) and {whose} ended"
        case _:
            return f"{whose} crashed"


def _answers(judged: Judged) -> str:
    """What speaks for or against the server besides its own work, as a further sentence."""
    if judged.serving.doubt:
        return f" The ready line came, but {_lowered(judged.serving.doubt)}."
    return f" Yet {_http(judged)}." if _http(judged) else ""


def _http(judged: Judged) -> str:
    """That HTTP answers well, where it does."""
    channels = judged.serving.channels
    return next((channel.says for channel in channels if channel.name == "http" and channel.answer == "yes"), "")


def _lowered(text: str) -> str:
    return f"{text[0].lower()}{text[1:]}"


def _being_stopped(judged: Judged) -> str:
    """How far an operator's stop or restart is; empty where there is none, or no more to say of it."""
    action = judged.outcome.action if judged.outcome is not None else None
    if action is None or (action.ended and not action.failed) or has_ended_since(judged.state, action):
        return ""
    did = "stopped" if action.action == "stop" else "restarted"
    step = f"{_whole(launch_words(action) if action.failed else action.step)}."
    if action.failed:
        became = "was cut off" if action.who else "has failed"
        return f"Stopped, but the {action.action} {by_whom(action.who)} {became}: {step}"
    return f"Stopped: it is being {did} {by_whom(action.who)}. {step}"


def _stopped(judged: Judged, cause: Cause | None, place: str) -> str:
    last = judged.state.attempt.endings[-1:]
    remaining = last[0].remaining if last and judged.state.gone_at is None else None
    rest = f", {_still_run(remaining)}" if remaining else ""
    why = f": {_whole(cause.line.split('. ')[0])}" if cause is not None and cause.line else ""
    return f"Stopped {place}{why}{rest}."


def _whole(line: str) -> str:
    """What somebody has said, as the end of a sentence."""
    return whole_words(line, _LONGEST).rstrip(".")


def _still_run(requests: int) -> str:
    return f"{count(requests, 'request')} still run{'s' if requests == 1 else ''}"


def _working(judged: Judged) -> str:
    step = judged.where.step
    text = doing(judged.where.phase, judged.where.role, step.part if step and not step.complete else "")
    if judged.serving.doubt:
        return _answers(judged).strip()
    if judged.where.phase == "launch" and judged.state.attempt.logged:
        text = "The arguments are read, the ranks are importing modules"
    if judged.where.phase == "warmup" and time_of(judged.state.attempt, "http-up") is None:
        text = "All ranks are up, the HTTP server starts next"
    counted = _counts(judged, step) if step is not None and judged.where.phase not in ("warmup", "serving") else ""
    still = _still(judged.eta) if judged.eta is not None else ""
    return f"{text}{counted}{still}.{_second(_why_slow(judged), judged)}"


def _second(why: str, judged: Judged) -> str:
    """The second sentence: why it is slow, and a time limit that runs out where that matters."""
    limit = _running_out(judged)
    if not why or not limit:
        return f" {why}." if why else limit
    return f" {why}; {limit.strip()[0].lower()}{limit.strip()[1:]}"


def _running_out(judged: Judged) -> str:
    limit = judged.countdown
    if limit is None or not (is_urgent(limit) or judged.name in ("slow", "stalled")):
        return ""
    name = f"{limit.name[0].upper()}{limit.name[1:]}"
    return f" {name} gives up {'in ' + duration(limit.left_s) if limit.left_s >= 1 else 'now'}."


def _still(eta: Eta) -> str:
    """How long still; without earlier starts only the current phase can be told, and no more is promised."""
    time = left(eta.low, eta.high)
    return f", {time} left in this phase" if eta.until else f", {time} until it is ready"


def _counts(judged: Judged, step: Step) -> str:
    if step.complete:
        who = " on every rank" if len(step.done) > 1 else ""
        return f": done{who}, the next phase has not begun"
    bar = current_bar(judged.state, judged.where)
    drawn = f"{bar.done} of {bar.total}" if bar is not None and bar.part == step.part else ""
    if len(step.expected) == 1:
        return f", {drawn}" if drawn else ""
    done = f"{len(step.done & step.expected)} of {len(step.expected)} ranks done"
    if step.phase == "graphs":
        return f", {drawn}" if drawn and not step.done else f": {done}"
    last = _last(judged, step)
    if last:
        return f": {done}, {last}"
    if bar is None or not drawn or step.done or step.phase != "weights":
        return f": {done}"
    return f": {done}, the bar of rank {bar.owner} at {drawn}"


def _last(judged: Judged, step: Step) -> str:
    """The rank that all wait for: by its maps, or because it is the only one left."""
    inside = [view for view in judged.ranks if view.rank in step.missing]
    mapped = [view for view in inside if view.source == "maps" and view.done is not None]
    if mapped and len(mapped) == len(inside):
        last = min(mapped, key=_place)
        at = round((last.opened or 0.0) * (last.total or 0)) if last.progress is None else last.done
        name = name_of(judged.state.attempt, last.rank)
        if sum(_place(view) == _place(last) for view in mapped) > 1:
            return f"the last at shard {at} of {last.total}"
        return f"{name} is the last at shard {at} of {last.total}"
    if step.done and len(inside) <= 2:
        verb = "is" if len(inside) == 1 else "are"
        return f"{rank_names(judged, tuple(view.rank for view in inside))} {verb} still at it"
    return ""


def _place(view: RankView) -> tuple[float, float]:
    return view.progress or 0.0, view.opened or 0.0


def _why_slow(judged: Judged) -> str:
    """Why it is slow, without the full stop; empty where it is not."""
    if judged.name != "slow":
        return ""
    late = tuple(view.rank for view in judged.ranks if view.straggler)
    if late:
        verb = "is" if len(late) == 1 else "are"
        return f"Slow: {rank_names(judged, late)} {verb} far behind the others"
    if judged.live.held:
        return f"Slow: {held_words(judged)}"
    if judged.live.compilers or judged.state.attempt.compiling:
        return "Slow: kernels are being compiled, which can take many minutes"
    if _answers(judged):
        return f"Slow: the ready line has not come, though {_http(judged)}"
    if judged.live.silent:
        channel = "The log has" if judged.live.blind or judged.live.watched is not None else "All channels have"
        return f"{channel} been silent for {duration(judged.live.quiet or 0)}, which this phase can explain"
    return "Slow: far below its own earlier rate"
