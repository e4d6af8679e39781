"""The page of `status`: everything that is known of a living start, and nothing that a host may not put there."""

from __future__ import annotations

from dataclasses import replace

from rich.console import Console
from timeline import ROOT, Timeline
from ui.acts import cut

from bringup.core.events import Gpu, GpusSeen, HostSeen, LinesRead, LogOpened, Server, ServerFound
from bringup.report.contract import Left
from bringup.report.status import status_page


def shown(timeline: Timeline, width: int = 100, name: str = "kimi", left: Left = ()) -> str:
    console = Console(width=width, color_system=None, highlight=False, markup=False, emoji=False)
    with console.capture() as captured:
        console.print(status_page(timeline.verdict(), timeline.state, name, width, left=left))
    return captured.get()


def loading() -> Timeline:
    timeline = Timeline().found(user="ann", port=30000).launch(tp=2, version="0.5.15").spawn(2)
    timeline.add(HostSeen(at=timeline.now, node="gpu-a", system="Linux", user="ann", utc_offset=0.0))
    timeline.add(LogOpened(at=timeline.now, path="/var/log/server.log", kind="file"))
    timeline.begin("weights", (0, 1), role="target").wait(12)
    return timeline.add(LinesRead(at=timeline.now - 4, size=2048, lines=20, unknown=0))


def gpu(index: int, used: int) -> Gpu:
    return Gpu(index=index, used=used, total=143360)


def test_what_is_known_is_there() -> None:
    page = shown(loading())
    assert page.startswith("◐ STARTING")
    assert "kimi · gpu-a · PID 100 of ann · started 12 s ago" in page
    assert "/var/log/server.log · 2." in page
    assert "last byte 4 s ago" in page
    assert "port 30000" in page
    assert "weights" in page


def test_gpus_that_are_alike_are_one_item() -> None:
    timeline = loading()
    gpus = (gpu(0, 70000), gpu(1, 70000), gpu(2, 10), gpu(3, 500))
    page = shown(timeline.add(GpusSeen(at=timeline.now, gpus=gpus, apps=())))
    assert "0-1: 68.4 of 140 GiB · 2: empty · 3: 0.5 of 140 GiB" in page


def test_other_servers_are_named_with_how_to_choose() -> None:
    timeline = loading()
    server = timeline.state.server
    assert server is not None
    other = Server(pid=777, start=9, engine="vllm", argv=("vllm",), port=8000)
    page = shown(timeline.add(ServerFound(at=timeline.now, server=server, others=(other,))))
    assert "Other servers: PID 777 on port 8000; --port or --pid chooses one." in page


def test_what_lives_on_is_ended_before_a_launch_and_that_is_not_lost_by_it() -> None:
    part = cut(step="killing", alive=((101, 2),))
    page = " ".join(shown(loading(), left=(("kimi", part),)).split())
    ends = "In `bringup watch kimi`, o ends what lives on; then `bringup restart kimi --port 30000` launches it again."
    assert f"{ends} bringup restart kimi --port 30000 --discard forgets it." in page
    for changes in ({"alive": ()}, {"alive": ((100, 1),)}, {"busy": True}, {"untouched": True}):
        assert "ends what lives on" not in shown(loading(), left=(("kimi", replace(part, **changes)),))


def test_a_failure_shows_its_cause_and_what_to_do() -> None:
    timeline = loading().fault("oom", "CUDA out of memory", rank=1).ending("child-killed")
    page = shown(timeline)
    assert page.startswith("✕ FAILED")
    assert "cause       oom · TP1" in page
    assert "CUDA out of memory" in page
    assert "what to do" in page


def test_nothing_of_the_host_reaches_the_terminal_as_it_is() -> None:
    timeline = loading().fault("oom", "\x1b[2Jboom HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz012345", rank=1)
    page = shown(timeline.ending("child-killed"))
    assert "\x1b" not in page
    assert "abcdefgh" not in page


def test_it_fits_a_narrow_terminal() -> None:
    assert all(len(line) <= 40 for line in shown(loading(), 40).splitlines())


def test_no_server_is_little_to_say() -> None:
    page = shown(Timeline())
    assert page.startswith("○ WAITING")
    assert "log" not in page.split("host")[1]
    assert str(ROOT) not in page
