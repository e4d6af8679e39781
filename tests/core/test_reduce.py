from timeline import FOLDER, START, Timeline, loading, serving, tp

from bringup.core.bars import STEPS
from bringup.core.channels import HISTORY
from bringup.core.events import (
    ChannelClosed,
    Compiling,
    Decoded,
    Fact,
    Gpu,
    GpuApp,
    GpusSeen,
    HttpAnswered,
    LinesRead,
    LinkChanged,
    Reached,
    Searching,
    Server,
    ServerFound,
    Warned,
)
from bringup.core.reduce import reduce
from bringup.core.state import State

CLASS = "LlamaForCausalLM"


def edges(line: Timeline, rank: int) -> list[tuple]:
    return [(e.phase, e.role, e.part, e.ended is not None) for e in line.state.attempt.ranks[rank].edges]


def test_an_event_that_tells_nothing_new_returns_the_same_state():
    line = Timeline().add(Searching(at=START, seeks="a server on port 30000"))
    line.add(ChannelClosed(at=START, channel="gpus", why="no nvidia-smi"), LinkChanged(at=START, status="up"))
    for event in (
        Searching(at=START + 1, seeks="a server on port 30000"),
        ChannelClosed(at=START + 1, channel="gpus", why="no nvidia-smi"),
        LinkChanged(at=START + 1, status="up"),
    ):
        assert reduce(line.state, event) is line.state


# --- target and draft --------------------------------------------------------------------------------------


def test_old_order_captures_the_target_before_the_draft_is_loaded():
    line = loading(1, algorithm="EAGLE")
    line.end("weights", model_class=CLASS).end("kv-cache").begin("graphs").wait(9).end("graphs")
    line.begin("distributed").end("distributed", seconds=0.0).begin("weights")
    assert edges(line, 0)[-1] == ("weights", "draft", "", False)
    assert ("distributed", "target", "", True) in edges(line, 0)
    assert sum(phase == "distributed" for phase, *_ in edges(line, 0)) == 1


def test_new_order_loads_both_models_before_any_cache():
    line = loading(1, algorithm="EAGLE3")
    line.end("weights", model_class=CLASS).begin("weights").end("weights", model_class=CLASS + "Eagle3")
    line.end("kv-cache").end("kv-cache")
    line.begin("graphs", role="target", part="verify").end("graphs", role="target", part="verify")
    line.begin("graphs", role="draft", part="decode")
    assert edges(line, 0)[1:] == [
        ("weights", "target", "", True),
        ("weights", "draft", "", True),
        ("kv-cache", "target", "", True),
        ("kv-cache", "draft", "", True),
        ("graphs", "target", "verify", True),
        ("graphs", "draft", "decode", False),
    ]


def test_ngram_has_no_second_model():
    line = loading(1, algorithm="NGRAM").end("weights").begin("weights")
    assert edges(line, 0)[-1] == ("weights", "target", "", True)


def test_the_class_of_a_load_corrects_a_lost_begin():
    line = Timeline().launch(tp=1, algorithm="EAGLE").begin("weights").end("weights", model_class=CLASS + "Eagle")
    assert edges(line, 0) == [("weights", "draft", "", True)]


def test_a_lost_end_line_does_not_keep_a_phase_open():
    line = loading(2).begin("graphs", [0, 1], role="target", part="decode")
    assert ("weights", "target", "", True) in edges(line, 1)


def test_a_cut_log_gives_the_begin_from_the_engines_own_measurement():
    line = Timeline().launch(tp=2).wait(50).end("weights", [1], seconds=40.0)
    edge = line.state.attempt.ranks[0].edges[0]
    assert edge.began == START + 10


def test_weights_committed_again_are_no_second_model():
    line = loading(1).end("weights").begin("graphs").end("graphs").end("weights", again=True)
    assert sum(phase == "weights" for phase, *_ in edges(line, 0)) == 1


# --- attempts ----------------------------------------------------------------------------------------------


def test_a_second_launch_is_a_second_attempt_and_keeps_the_first_fault():
    line = loading(2).fault("gpu-memory-taken", "occupied", rank=1, line=40).fault("unknown", "noise", rank=0)
    line.ending("child-failed").wait(5).launch(tp=2)
    assert line.state.attempt.number == 2
    assert not line.state.attempt.faults
    assert [(past.number, past.kind, past.line) for past in line.state.earlier] == [(1, "gpu-memory-taken", 40)]


def test_the_arguments_of_a_found_process_are_not_a_second_launch():
    line = Timeline().found(tp=2, model=FOLDER).wait(20).launch(tp=2)
    assert line.state.attempt.number == 1
    assert line.state.attempt.began_at == START


def test_another_process_is_another_attempt_before_it_prints_anything():
    line = serving(2)
    line.add(ServerFound(at=line.now, server=Server(pid=1, start=1, engine="sglang", argv=(), started_at=START)))
    line.wait(100)
    new = Server(pid=900, start=9, engine="sglang", argv=(), started_at=line.now)
    line.wait(3).add(ServerFound(at=line.now, server=new))
    assert line.state.attempt.number == 2
    assert not line.state.attempt.ranks


def test_an_error_before_any_launch_does_not_count_as_an_attempt():
    line = Timeline().fault("import", "no module").launch(tp=1)
    assert line.state.attempt.number == 1
    assert not line.state.attempt.faults


# --- bars --------------------------------------------------------------------------------------------------


def test_a_bar_belongs_to_the_open_phase_of_rank_0():
    line = loading(2, algorithm="EAGLE").bar(3, 9).end("weights", [0, 1], model_class=CLASS).begin("weights", [0, 1])
    line.bar(0, 1)
    assert [(bar.role, bar.done, bar.total) for bar in line.state.attempt.bars] == [("target", 3, 9), ("draft", 0, 1)]


def test_a_provisional_total_may_be_cut_short_but_its_count_is_true():
    line = loading(2).bar(7, 48).wait(1).bar(8, 48).bar(9, 9, provisional=True)
    bar = line.state.attempt.bars[-1]
    assert (bar.done, bar.total, bar.provisional) == (9, 48, False)


def test_a_redraw_of_the_same_count_is_no_step():
    line = loading(2).bar(7, 48).wait(20).bar(7, 48)
    bar = line.state.attempt.bars[-1]
    assert [done for _, done in bar.steps] == [7]
    assert bar.moved_at == line.now - 20


def test_steps_are_bounded():
    line = loading(2)
    for done in range(500):
        line.wait(1).bar(done, 500)
    assert len(line.state.attempt.bars[-1].steps) == STEPS


def test_an_impossible_bar_changes_nothing():
    line = loading(2).bar(3, 9)
    before = line.state.attempt.bars
    assert line.bar(4, 2).bar(1, 0).state.attempt.bars == before


def test_each_capture_has_its_own_bar():
    line = loading(1).end("weights").begin("graphs", role="target", part="prefill").bar(58, 58, kind="graphs")
    line.end("graphs", role="target", part="prefill").begin("graphs", role="target", part="decode")
    line.bar(1, 14, kind="graphs")
    assert [(bar.part, bar.done) for bar in line.state.attempt.bars] == [("prefill", 58), ("decode", 1)]


# --- the rest ----------------------------------------------------------------------------------------------


def test_lines_read_measure_the_log_and_hear_known_ranks():
    line = loading(2).wait(9)
    line.add(LinesRead(at=line.now, size=70, lines=2, unknown=1, heard=(tp(1), tp(7))))
    assert line.state.log.grew_at == line.now
    assert line.state.attempt.ranks[1].heard_at == line.now
    assert len(line.state.attempt.ranks) == 2


def test_a_gpu_is_tied_to_the_rank_that_holds_memory_on_it_and_history_is_bounded():
    line = loading(2).spawn(2)
    for step in range(HISTORY + 10):
        gpu = Gpu(index=3, used=step * 100)
        line.wait(1).add(GpusSeen(at=line.now, gpus=(gpu,), apps=(GpuApp(pid=102, gpu=3, used=1),)))
    assert line.state.attempt.ranks[1].gpu == 3
    assert len(line.state.gpu.history[0][1]) == HISTORY
    assert line.state.gpu.moved_at == line.now


def test_health_that_fails_before_it_ever_succeeded_is_no_trouble():
    line = loading(1).add(HttpAnswered(at=START, path="/health", status=503))
    assert line.state.http_bad_since is None
    line.add(HttpAnswered(at=START + 1, path="/health", status=200))
    line.add(HttpAnswered(at=START + 2, path="/health", status=503))
    line.add(HttpAnswered(at=START + 3, path="/health", error="timeout"))
    assert line.state.http_bad_since == START + 2


def test_facts_milestones_and_warnings_are_kept_once():
    line = Timeline()
    for _ in range(3):
        line.add(Fact(at=START, name="version", value="0.5.15"), Reached(at=line.now, milestone="http-up"))
        line.add(Warned(at=START, kind="unmatched-weights", detail="a.b"), Compiling(at=line.now, what="DeepGEMM"))
        line.wait(1)
    attempt = line.state.attempt
    assert attempt.version == "0.5.15"
    assert attempt.reached == (("http-up", START),)
    assert len(attempt.warnings) == len(attempt.facts) == len(attempt.compiling) == 1
    line.add(Compiling(at=START, what="DeepGEMM", ended=True))
    assert not line.state.attempt.compiling


def test_lists_that_a_log_can_fill_are_bounded():
    line = loading(1)
    for number in range(300):
        line.fault("unknown", f"error {number}").add(Warned(at=START, kind="watchdog", detail=str(number)))
        line.add(Decoded(at=START, accept_len=2.0, running=1))
    attempt = line.state.attempt
    assert attempt.faults[0].text == "error 0"
    assert attempt.faults[-1].text == "error 299"
    assert max(len(attempt.faults), len(attempt.warnings), len(attempt.accept_lens)) <= 96


def test_an_idle_decode_line_says_nothing_of_the_draft():
    line = Timeline().add(Decoded(at=START, accept_len=1.0, running=0))
    assert line.state.attempt.accept_lens == ()


def test_the_first_state_is_empty():
    assert State().attempt.ranks == ()
