import pytest
from timeline import START, Timeline, loading, serving

from bringup.core.events import (
    Compiling,
    LinkChanged,
    Searching,
    Server,
    ServerFound,
)

TARGET, DRAFT = "LlamaForCausalLM", "LlamaForCausalLMEagle3"


# --- waiting, unknown ---------------------------------------------------------------------------------------


def test_nothing_seen_is_waiting():
    verdict = Timeline().verdict()
    assert (verdict.state, verdict.phase, verdict.engine, verdict.cause) == ("waiting", None, None, None)


def test_waiting_says_what_for():
    assert "port 30000" in Timeline().add(Searching(at=START, seeks="a server on port 30000")).verdict().summary


def test_a_host_that_is_lost_before_anything_was_seen_is_unknown():
    assert Timeline().add(LinkChanged(at=START, status="lost")).verdict().state == "unknown"


# --- starting -----------------------------------------------------------------------------------------------


def test_a_load_tells_how_many_are_done_and_who_is_last():
    line = loading(8, algorithm="EAGLE3").spawn(8)
    for number in range(1, 43):
        line.wait(1).map(3, number).map(5, min(64, number + 15)).sample()
    line.map(3, 42).map(5, 60).end("weights", [0, 1, 2, 4, 6, 7], seconds=48.0, model_class=TARGET)
    verdict = line.verdict(1)
    where = "Loading target weights: 6 of 8 ranks done, TP3 is the last at shard 41 of 64"
    assert verdict.summary.startswith(f"{where}, about 15-30 s left in this phase.")
    assert verdict.ranks[0].progress == 1.0
    assert verdict.ranks[0].note.startswith("done in 48.0 s")
    assert verdict.ranks_done == (("distributed", tuple(range(8))), ("weights", (0, 1, 2, 4, 6, 7)))


def test_only_rank_0_has_the_bar_and_nobody_else_is_guessed():
    verdict = loading(4).bar(12, 24).verdict()
    assert [(rank.progress, rank.source) for rank in verdict.ranks] == [
        (0.5, "log"),
        (None, "none"),
        (None, "none"),
        (None, "none"),
    ]
    assert verdict.bar == (12, 24)


def test_a_full_bar_is_not_a_finished_load():
    verdict = loading(4).bar(24, 24).verdict()
    assert verdict.ranks[0].progress is not None
    assert verdict.ranks[0].progress < 1.0
    assert verdict.phase == "weights"


def test_maps_beat_the_bar_and_show_opened_beside_read():
    line = loading(2).spawn(2)
    for mapped in ([1, 2, 3], [1, 2, 3, 4], [3, 4, 5, 6], [5, 6, 7, 8]):
        line.wait(1).map(0, *mapped).sample()
    rank = line.bar(1, 64).verdict().ranks[0]
    assert (rank.source, rank.done, rank.total) == ("maps", 4, 64)
    assert rank.progress == 4 / 64
    assert rank.opened == 8 / 64


def test_all_shards_put_away_is_still_not_the_ranks_own_word():
    line = loading(2).spawn(2)
    for mapped in ([1], [2], [3], []):
        line.wait(1).map(0, *mapped, of=3).sample()
    assert line.verdict().ranks[0].progress == 0.99


def test_progress_never_runs_backwards_within_a_phase():
    line = loading(2).spawn(2)
    seen = []
    for step, mapped in enumerate(([1], [2], [3], [], [2], [9, 10], [11], [])):
        line.wait(1).map(0, *mapped, of=16).sample().bar(min(step, 5), 16)
        seen.append(line.verdict().ranks[0].progress)
    assert seen == sorted(seen)


def test_two_bars_in_one_phase_do_not_run_backwards():
    line = loading(1).bar(30, 60)
    before = line.verdict().ranks[0].progress
    assert line.wait(1).bar(0, 4).verdict().ranks[0].progress == before


def test_the_draft_is_a_phase_of_its_own():
    line = loading(2, algorithm="EAGLE3").end("weights", [0, 1], model_class=TARGET).begin("weights", [0, 1]).bar(0, 1)
    verdict = line.verdict()
    assert (verdict.phase, verdict.role, verdict.bar) == ("weights", "draft", (0, 1))
    assert dict(verdict.ranks_done).get("weights") is None
    assert dict(verdict.ranks_done)["distributed"] == (0, 1)


def test_captures_that_only_rank_0_prints_leave_the_others_neither_stuck_nor_done():
    line = loading(4, algorithm="EAGLE3").wait(30).end("weights", range(4), model_class=TARGET)
    line.begin("weights", range(4)).end("weights", range(4), model_class=DRAFT)
    line.begin("graphs", range(4), role="target", part="verify").wait(9)
    line.end("graphs", range(4), role="target", part="verify").begin("graphs", [0], role="draft", part="decode")
    verdict = line.wait(60).bar(7, 14, kind="graphs").verdict(1)
    assert (verdict.state, verdict.phase, verdict.role) == ("starting", "graphs", "draft")
    assert [(rank.progress, rank.source) for rank in verdict.ranks] == [(0.5, "log")] + [(0.5, "peers")] * 3
    assert not any(rank.straggler for rank in verdict.ranks)
    line.end("graphs", [0], role="draft", part="decode").reached("scheduler-up", "http-up")
    assert line.verdict().phase == "warmup"


def test_other_ranks_capture_in_step_with_rank_0():
    line = loading(2).end("weights", [0, 1]).begin("graphs", [0, 1], role="target", part="decode")
    verdict = line.bar(3, 12, kind="graphs").verdict()
    assert [rank.source for rank in verdict.ranks] == ["log", "peers"]
    assert "3 of 12" in verdict.summary


def test_the_timeline_lasts_from_the_first_begin_to_the_last_end():
    line = Timeline().found(tp=2).wait(20).launch(tp=2).wait(10).begin("weights", [1]).wait(2).begin("weights", [0])
    line.wait(8).end("weights", [1]).wait(5)
    assert [(p.phase, p.seconds, p.ended, p.ranks_done) for p in line.verdict().phases] == [
        ("launch", 30.0, True, 0),
        ("weights", 15.0, False, 1),
    ]
    line.end("weights", [0])
    assert line.verdict(50).phases[1].seconds == 15.0


def test_an_old_log_under_a_young_process_is_not_this_start():
    line = serving(2).wait(500)
    verdict = line.add(
        ServerFound(at=line.now, server=Server(pid=7, start=7, engine="sglang", argv=(), started_at=line.now))
    ).verdict(5)
    assert (verdict.state, verdict.phase) == ("starting", "launch")


# --- slow ---------------------------------------------------------------------------------------------------


def test_stragglers_make_a_start_slow_and_are_named():
    line = loading(8).wait(100).end("weights", [1, 2, 3, 4, 5, 6], seconds=100.0)
    assert line.verdict(10).state == "starting"
    verdict = line.wait(150).bytes().verdict(1)
    assert verdict.state == "slow"
    assert [rank.rank for rank in verdict.ranks if rank.straggler] == [0, 7]
    assert "TP0 and TP7" in verdict.summary
    assert verdict.ranks[1].note.endswith("waits for TP0 and TP7")


def test_a_rank_that_is_shards_behind_its_peers_is_a_straggler():
    line = loading(4).spawn(4)
    for step in range(1, 25):
        line.wait(1)
        for rank in range(4):
            line.map(rank, step if rank != 2 else 1 + step // 4)
        line.sample()
    assert [rank.rank for rank in line.verdict().ranks if rank.straggler] == [2]


def test_a_bar_far_below_its_own_rate_is_slow():
    line = loading(1)
    for done in range(25):
        line.wait(0.04).bar(done, 64)
    assert line.verdict(2).state == "starting"
    for done in (25, 26, 27):
        line.wait(20).bar(done, 64)
    assert line.verdict(2).state == "slow"


# --- stalled ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("silent", "state"), [(5, "starting"), (300, "slow"), (3600, "stalled")])
def test_with_the_log_alone_patience_is_long(silent, state):
    assert loading(8).bar(163, 163).verdict(silent).state == state


def test_work_on_any_channel_is_no_stall():
    line = loading(2).spawn(2)
    for _ in range(40):
        line.wait(30).fault_in(1).sample()
    assert line.verdict(1).state == "starting"


def test_no_work_on_any_channel_is_a_stall():
    line = loading(2).spawn(2)
    for _ in range(260):
        line.wait(1).sample()
    verdict = line.verdict(1)
    assert verdict.state == "stalled"
    assert "nothing has moved on any channel" in verdict.summary


def test_spinning_ranks_only_lengthen_the_patience():
    line = loading(2).spawn(2)
    states = []
    for second in range(1, 800):
        line.wait(1).change(0, cpu_s=float(second)).change(1, cpu_s=float(second)).sample()
        states.append(line.verdict().state)
    assert states[300] == "slow"
    assert states[-1] == "stalled"


def test_cpu_is_work_while_modules_are_imported():
    line = Timeline().found(tp=1).spawn(1, title="python -c spawn_main")
    for second in range(1, 900):
        line.wait(1).change(0, cpu_s=float(second)).sample()
    assert line.verdict(1).state == "starting"


def test_a_stopped_rank_is_proof_within_seconds():
    line = loading(2).spawn(2).wait(1).change(1, state="T").sample()
    assert line.verdict().state == "starting"
    for _ in range(4):
        line.wait(1).fault_in(0).sample()
    verdict = line.verdict()
    assert verdict.state == "stalled"
    assert "TP1" in verdict.summary
    assert verdict.ranks[1].trouble == "stopped"
    line.change(1, state="R").wait(1).fault_in(1).sample()
    assert line.verdict().state == "starting"


def test_an_announced_compile_explains_much_silence():
    line = loading(1).end("weights").begin("graphs", role="target", part="decode").bar(0, 20, kind="graphs")
    line.add(Compiling(at=line.now, what="DeepGEMM"))
    assert line.verdict(2000).state == "slow"
    assert line.verdict(4000).state == "stalled"


def test_a_lost_connection_is_not_a_stall():
    line = loading(2).spawn(2).add(LinkChanged(at=START, status="lost"))
    verdict = line.verdict(5000)
    assert verdict.state == "starting"
    assert verdict.stale_s == 5000


def test_a_rank_that_waits_for_storage_without_end_is_in_trouble():
    line = loading(2).spawn(2).wait(10).change(1, state="D").fault_in(0).sample()
    assert line.verdict().ranks[1].trouble == ""
    line.wait(40).fault_in(0).sample()
    assert line.verdict().ranks[1].trouble == "uninterruptible"
