"""Accounts of starts for the tests of reports: made by hand, one of them by a hostile host."""

from __future__ import annotations

from dataclasses import replace

from report.pages import START, WAITING, spans, state, view

from bringup.core.events import Gpu, Server
from bringup.core.state import Edge, GpuChannel, Rank, State
from bringup.core.verdict import Advisory, Cause, RankView
from bringup.report.account import Account
from bringup.report.excerpts import Quoted
from bringup.session.series import Point, RankPoint

HOSTILE = (
    '<script>alert(1)</script> <img src=x onerror=alert(2)> "\'><a href="javascript:alert(3)">x</a> '
    "</style></svg></pre>]]> &lt;b&gt; \x1b]0;owned\x07\x1b[31mred \u202egnp.exe \u200b\x9b31m \ufffe "
    "--api-key sk-verysecretvalue0123 HF_TOKEN=hf_abcdefghijklmnop https://me:pass@mirror/ @everyone #12 `` ``` | ![x](http://evil/y)"
)
"""What a host can put into any text."""
SECRETS = ("verysecret", "abcdefghijklmnop", "me:pass")


def failed() -> Account:
    """A start on four ranks whose TP2 ran out of memory while its peers loaded."""
    begun = START + 20
    ranks = tuple(
        Rank(
            rank,
            labels=(("tp", rank),),
            gpu=rank,
            edges=(Edge("weights", "target", began=begun, ended=None if rank == 2 else begun + 30 + rank),),
            gone_at=begun + 40 if rank == 2 else None,
        )
        for rank in range(4)
    )
    points = tuple(
        Point(
            START + second,
            tuple(RankPoint(rank, "weights", None, min(0.99, second / 60)) for rank in range(4)),
            tuple((index, 1024 * second) for index in range(4)),
        )
        for second in range(20, 61)
    )
    gpus = tuple(Gpu(index, name="NVIDIA H200", used=60 * 1024, total=143_771) for index in range(4))
    server = Server(
        pid=4121,
        start=7,
        engine="sglang",
        argv=("python3", "-m", "sglang.launch_server", "--api-key", "sk-verysecretvalue0123", "--tp", "4"),
        user="serve",
    )
    known = state(4, node="gpu-a", gpu=GpuChannel(gpus=gpus), server=server)
    known = replace(known, attempt=replace(known.attempt, ranks=ranks))
    verdict = replace(
        WAITING,
        state="failed",
        phase="weights",
        summary="Failed: out of memory on TP2 while loading weights.",
        engine="sglang",
        version="0.5.9",
        model="/models/large",
        port=30000,
        now=START + 61,
        since=START,
        ranks_expected=4,
        ranks_done=(("weights", (0, 1, 3)),),
        ranks=tuple(_rank(rank) for rank in range(4)),
        phases=spans(("launch", None, 20, True), ("weights", None, 41, False)),
        failed_ranks=(2,),
        cause=Cause(
            "oom",
            "torch.OutOfMemoryError: CUDA out of memory.",
            412,
            2,
            secondary=False,
            advice="Lower --mem-fraction-static.",
        ),
        warnings=(
            Advisory("memory-tight", "GPU 2 has 1.0 GiB left", "Stop what else runs there."),
            Advisory("memory-tight", "GPU 3 has 1.1 GiB left", "Stop what else runs there."),
        ),
        evidence=("log line 412: torch.OutOfMemoryError",),
    )
    excerpt = tuple(Quoted(number, text) for number, text in _LINES)
    return Account("gpu-a", "host", verdict, known, points, excerpt, excerpt[-2:], zone=0.0, maker="bringup 1.0")


_LINES = (
    (411, "  return torch.empty(shape)"),
    (412, "torch.OutOfMemoryError: CUDA out of memory."),
    (413, "SIGQUIT received."),
)


def _rank(rank: int) -> RankView:
    if rank == 2:
        return view(rank, gpu=rank, progress=0.6, source="maps", trouble="error", note="shard 19/32")
    return view(rank, gpu=rank, progress=1.0, note="done in 30.0 s, waits for TP2")


def hostile() -> Account:
    """The same start, told by a host that puts the same text into everything it can."""
    account = failed()
    verdict = replace(
        account.verdict,
        summary=f"Failed: {HOSTILE}",
        version=HOSTILE,
        model=HOSTILE,
        draft_model=HOSTILE,
        cause=Cause(HOSTILE, HOSTILE, 412, 2, secondary=True, advice=HOSTILE),
        warnings=(Advisory(HOSTILE, HOSTILE, HOSTILE),),
        evidence=(HOSTILE,),
        ghosts=((HOSTILE, 30.0),),
        ranks=tuple(replace(one, note=HOSTILE, node=HOSTILE) for one in account.verdict.ranks),
        phases=tuple(replace(one, part=HOSTILE) for one in account.verdict.phases),
    )
    gpus = tuple(replace(gpu, name=HOSTILE) for gpu in account.state.gpu.gpus)
    known = account.state.server
    assert known is not None
    state_ = replace(
        account.state,
        node=HOSTILE,
        system=HOSTILE,
        gpu=GpuChannel(gpus=gpus),
        server=replace(known, argv=(*known.argv, HOSTILE), cwd=HOSTILE, user=HOSTILE),
    )
    quoted = (Quoted(412, HOSTILE),)
    return replace(
        account,
        name=HOSTILE,
        verdict=verdict,
        state=state_,
        excerpt=quoted,
        tail=quoted,
        trouble=HOSTILE,
        maker=HOSTILE,
    )


def bare() -> Account:
    """A host on which nothing was found."""
    return Account("gpu-a", "host", WAITING, State())
