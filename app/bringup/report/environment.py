"""What a start ran on and as, as far as it was seen: labels with a text each, for a report."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from bringup.core.redact import mask_argv
from bringup.core.state import State
from bringup.core.words import count, without_state
from bringup.report.account import Account
from bringup.report.contract import moment
from bringup.report.page import size, span

Fact = tuple[str, str]
_MIB = 1024
_LONGEST_COMMAND = 4000


def environment(account: Account) -> list[Fact]:
    """Return what is known, in the order in which it is told."""
    facts = [*_engine(account), *_layout(account)]
    if account.nodes:
        facts += [fact for node in account.nodes for fact in _node(node)]
    else:
        facts += [*_host(account.state), *_files(account.state), *_log(account)]
    facts += _times(account)
    return [(label, text) for label, text in facts if text]


def _engine(account: Account) -> Iterator[Fact]:
    verdict, state = account.verdict, account.state
    yield "Engine", f"{verdict.engine or ''} {verdict.version or ''}".strip()
    if state.installed and state.installed != verdict.version:
        yield "Installed package", state.installed
    yield "Model", verdict.model or ""
    yield "Draft model", verdict.draft_model or ""
    yield "Speculative algorithm", state.attempt.algorithm
    yield "Load format", state.attempt.load_format


def _layout(account: Account) -> Iterator[Fact]:
    attempt, verdict = account.state.attempt, account.verdict
    sizes = (("tensor", attempt.tp), ("pipeline", attempt.pp), ("data", attempt.dp), ("expert", attempt.ep))
    told = [f"{name} {number}" for name, number in sizes if number > 1]
    told += ["data-parallel attention"] if attempt.dp_attention else []
    ranks = count(verdict.ranks_expected, "rank") if verdict.ranks_expected else ""
    yield "Parallel layout", ", ".join(filter(None, [ranks, *told]))
    if attempt.nnodes > 1 and not account.nodes:
        yield "Nodes", f"{attempt.nnodes}, this is node {attempt.node_rank}"
    yield "Port", str(verdict.port) if verdict.port is not None else ""
    if attempt.number > 1:
        yield "Launch", f"{attempt.number} in this log"
    limits = (("communication", attempt.dist_timeout), ("watchdog", attempt.watchdog_timeout))
    yield "Time limits", ", ".join(f"{name} {seconds:g} s" for name, seconds in limits if seconds is not None)
    yield "Memory left when up", f"{attempt.free_gb:g} GB on the fullest GPU" if attempt.free_gb is not None else ""
    facts = dict(attempt.facts)
    yield "NCCL", facts.get("nccl", "")


def _host(state: State) -> Iterator[Fact]:
    yield "Host", " · ".join(filter(None, (state.node, state.system)))
    server = state.server
    if server is not None:
        yield "Process", f"PID {server.pid}{f' of {server.user}' if server.user else ''}"
        launcher = server.launcher
        yield "Launched by", ". ".join(filter(None, (launcher.words, launcher.detail)))
        yield "Directory", server.cwd
        yield "Command", shlex.join(mask_argv(server.argv))[:_LONGEST_COMMAND]
    yield "GPUs", _gpus(state)
    if state.others:
        yield "Other servers", ", ".join(f"PID {other.pid} on port {other.port or '?'}" for other in state.others[:4])


def _gpus(state: State) -> str:
    gpus = state.gpu.gpus
    if not gpus:
        return ""
    names = sorted({gpu.name for gpu in gpus if gpu.name})
    totals = sorted({gpu.total for gpu in gpus if gpu.total})
    each = f" with {' or '.join(f'{total / _MIB:.0f}' for total in totals)} GiB each" if totals else ""
    return f"{len(gpus)} × {' and '.join(names) if names else 'GPU'}{each}"


def _files(state: State) -> Iterator[Fact]:
    for known in state.checkpoints:
        where = f" on {known.filesystem}{', over the network' if known.remote else ''}" if known.filesystem else ""
        have = len(known.present)
        whole = len(known.expected) or have
        files = count(have, "file") if have == whole else f"{have} of {count(whole, 'file')}"
        yield f"Files of the {known.role}", f"{files}, {size(known.size)}{where}; {known.folder}"


def _log(account: Account) -> Iterator[Fact]:
    log, reading = account.state.log, account.reading
    if reading is not None:
        facts = [reading.name, size(reading.size), count(reading.lines, "line"), f"{reading.unknown:,} not understood"]
        yield "Log", " · ".join(facts)
        if reading.began is not None and reading.ended is not None:
            yield "Time of the log", span(reading, 0.0)
    elif log.path or log.kind:
        yield (
            "Log",
            " · ".join(filter(None, (log.path or log.note or log.kind, size(log.size), count(log.lines, "line")))),
        )


def _node(account: Account) -> Iterator[Fact]:
    """Yield one host of several: how it is by itself, and then what it is, each label with its name."""
    verdict = account.verdict
    yield f"Node {account.name}", f"{verdict.state}: {without_state(verdict.summary, verdict.state)}"
    told = [*_host(account.state), *_files(account.state), *_log(account)]
    yield from ((f"{label}{account.of}", text) for label, text in told)


def _times(account: Account) -> Iterator[Fact]:
    yield "Began", clock_time(account.verdict.since, account.zone)
    yield "Seen until", clock_time(account.verdict.now, account.zone)


def clock_time(at: float | None, zone: float | None) -> str:
    """Return a moment to the second, as the host's or the log's clock has it; "" where there is none."""
    text = moment(round(at), zone) if at is not None else None
    return (text or "").replace("T", " ").replace(".000", "").lstrip("-")
