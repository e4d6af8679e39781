"""The sentence about a start on several nodes: what the culprit does, who waits for it, and what cannot be seen."""

from __future__ import annotations

from collections.abc import Sequence

from bringup.core.fleet.decision import Decision
from bringup.core.fleet.part import Part
from bringup.core.verdict import RankView
from bringup.core.words import count, doing, left, names

_WORDS = {"failed": "Failed", "stalled": "Stalled", "stopped": "Stopped"}
_COUNTED = ("distributed", "weights", "kv-cache", "compile")


def sentence(decision: Decision, parts: Sequence[Part], ranks: Sequence[RankView]) -> str:
    """Return the sentence for a decision."""
    match decision.state:
        case "failed" | "stalled" | "stopped":
            return _ended(decision, parts)
        case "degraded" if decision.blames:
            culprit = decision.decider
            return f"The head node {decision.head.node} serves, but {culprit.node} {_lower(culprit.verdict.summary)}"
        case "ready" | "degraded":
            return f"{decision.decider.verdict.summary} {count(len(parts), 'node')}.{_unseen(parts)}"
        case "waiting":
            seeks = decision.head.state.seeks
            return f"No server yet on {names([part.node for part in parts])}.{f' {seeks}' if seeks else ''}"
        case "standby":
            nodes = names([part.node for part in parts])
            return f"{nodes} are worker nodes, up and waiting; the head node is not watched."
        case "unknown":
            return (
                f"Nothing can be said of {decision.decider.node}: {decision.decider.state.link.why or 'no connection'}"
            )
        case _:
            return _going(decision, parts, ranks)


def named(summary: str, node: str) -> str:
    """Return a sentence of one node with its name in it: "Failed on node2: out of memory …"."""
    for word in _WORDS.values():
        if summary.startswith(word):
            return f"{word} on {node}{summary.removeprefix(word)}"
    return f"{node}: {summary}"


def _ended(decision: Decision, parts: Sequence[Part]) -> str:
    culprit = decision.decider
    waiting = [part.node for part in parts if part is not culprit and part.is_known and not part.has_ended]
    if not culprit.is_known:
        who = f"{names(waiting)} {'wait' if len(waiting) > 1 else 'waits'}"
        return f"{_WORDS[decision.state]}: {who} for {culprit.node}, where no server runs."
    summary = culprit.verdict.summary
    killed = decision.state == "failed" and culprit.verdict.state == "stopped"
    text = f"Failed: {culprit.node} was {_lower(summary)}" if killed else named(summary, culprit.node)
    after = [part.node for part in parts if part is not culprit and part.has_ended]
    told = _clause(after, "ended after it") + _clause(waiting, "waits for it", "wait for it")
    return f"{text}{told}{_unseen(parts, culprit)}"


def _clause(nodes: Sequence[str], one: str, many: str = "") -> str:
    return f" {names(nodes)} {one if len(nodes) == 1 else many or one}." if nodes else ""


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _unseen(parts: Sequence[Part], but: Part | None = None) -> str:
    """What is missing from the picture."""
    lost = [part.node for part in parts if part is not but and not part.is_linked]
    none = [part.node for part in parts if part is not but and part.is_linked and part.verdict.state == "waiting"]
    told = f" There is no connection to {names(lost)} now." if lost else ""
    return f"{told} No server runs on {names(none)}." if none else told


def _going(decision: Decision, parts: Sequence[Part], ranks: Sequence[RankView]) -> str:
    last = decision.decider
    if not last.is_known:
        up = [part.node for part in parts if part.is_known]
        return f"No server on the head node {last.node} yet; {names(up)} {'is' if len(up) == 1 else 'are'} up."
    here = [part for part in parts if _is_at(part, last)]
    if len(here) > 1 and last.verdict.phase in _COUNTED:
        return f"{_together(decision, here, ranks)}{_unseen(parts)}"
    ahead = [part.node for part in parts if part.is_known and part not in here]
    text = last.verdict.summary if last is decision.head and not ahead else named(last.verdict.summary, last.node)
    waits = _clause(ahead, "is further on and waits", "are further on and wait") if decision.blames else ""
    return f"{text}{waits}{_unseen(parts)}"


def _is_at(part: Part, other: Part) -> bool:
    return (part.verdict.phase, part.verdict.role) == (other.verdict.phase, other.verdict.role) and part.is_known


def _together(decision: Decision, here: Sequence[Part], ranks: Sequence[RankView]) -> str:
    """Nodes in the same phase: how many of their ranks have done it, in all and on each."""
    phase, role = decision.decider.verdict.phase, decision.decider.verdict.role
    done: list[str] = []
    counts = [0, 0]
    for part in here:
        own = [view.rank for view in ranks if view.node == part.node]
        over = set(dict(part.verdict.ranks_done).get(phase, ())) if phase is not None else set()
        finished = len(over & {view.rank for view in part.verdict.ranks}) if own else 0
        done.append(f"{finished} of {len(own)} on {part.node}")
        counts = [counts[0] + finished, counts[1] + len(own)]
    etas = [part.verdict.eta_s for part in here if part.verdict.eta_s is not None]
    still = f", {left(max(low for low, _ in etas), max(high for _, high in etas))} left" if etas else ""
    text = f"{doing(phase, role)}: {counts[0]} of {counts[1]} ranks done ({', '.join(done)}){still}."
    summary = decision.decider.verdict.summary
    if decision.state != "slow" or "Slow: " not in summary:
        return text
    return f"{text} Slow on {decision.decider.node}: {summary.partition('Slow: ')[2]}"
