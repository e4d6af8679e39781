"""Each shape of a hang, with its numbers, and the recovery from it."""

import pytest
from timeline import Timeline, loading, serving

from bringup.core.events import Process
from bringup.engines.patience import load_policy


def idle(line: Timeline, seconds: int, *spinning: int) -> Timeline:
    """Let time pass in which nothing moves, but the CPU of ranks that spin."""
    for _ in range(seconds):
        line.wait(1).burn(*spinning).sample()
    return line


def graphs(ranks: int = 4) -> Timeline:
    line = loading(ranks).spawn(ranks).wait(30).end("weights", range(ranks), seconds=30.0)
    return line.begin("graphs", range(ranks), role="target", part="decode")


# --- waits for one ------------------------------------------------------------------------------------------


def test_the_one_that_all_others_wait_for_is_named():
    line = loading(8).spawn(8).wait(30).end("weights", [0, 1, 2, 3, 4, 6, 7], seconds=30.0)
    verdict = idle(line, 250).verdict()
    assert (verdict.state, verdict.hang, verdict.failed_ranks) == ("stalled", "waits-for-one", (5,))
    assert "the other 7 ranks are done and wait for TP5; nothing moved for 4 min 10 s." in verdict.summary
    assert any(text.startswith("TP5: last log line 4 min 40 s ago, ") for text in verdict.evidence)


def test_it_is_a_straggler_and_no_hang_while_it_shows_work():
    line = loading(8).spawn(8).wait(30).end("weights", [0, 1, 2, 3, 4, 6, 7], seconds=30.0)
    for _ in range(60):
        line.wait(10).fault_in(5).sample()
        verdict = line.verdict()
        assert verdict.state in ("starting", "slow")
        assert (verdict.hang, verdict.failed_ranks) == ("", ())


def test_one_that_has_not_begun_is_waited_for_too():
    line = Timeline().launch(tp=4).begin("distributed", [0, 1, 3]).spawn(4)
    verdict = idle(line, 200).verdict()
    assert (verdict.hang, verdict.failed_ranks) == ("waits-for-one", (2,))
    assert "the other 3 ranks wait for TP2, which has not begun" in verdict.summary


def test_two_that_are_missing_are_named_without_a_culprit():
    line = loading(4).spawn(4).wait(30).end("weights", [0, 1], seconds=30.0)
    verdict = idle(line, 250).verdict()
    assert (verdict.hang, verdict.failed_ranks) == ("silent", ())
    assert "TP2 and TP3 not done." in verdict.summary


def test_spinning_peers_do_not_lengthen_the_patience_with_the_one_that_is_missing():
    line = loading(4).spawn(4).wait(30).end("weights", [0, 1, 3], seconds=30.0)
    assert idle(line, 239, 0, 1, 3).verdict().state == "slow"
    assert idle(line, 3, 0, 1, 3).verdict().state == "stalled"


def test_cpu_of_the_one_that_is_missing_does():
    line = loading(4).spawn(4).wait(30).end("weights", [0, 1, 3], seconds=30.0)
    assert idle(line, 600, 0, 1, 2, 3).verdict().state == "slow"
    assert idle(line, 130, 0, 1, 2, 3).verdict().state == "stalled"


def test_the_one_whose_gpu_does_not_spin_is_a_hint_not_a_proof():
    line = graphs(4)
    for _ in range(910):
        line.wait(1).gpus(100, 100, 0, 100).sample()
    verdict = line.verdict()
    assert (verdict.state, verdict.hang, verdict.failed_ranks) == ("stalled", "waits-for-one", ())
    assert "the other 3 ranks spin and TP2 does not, so they seem to wait for it" in verdict.summary


def test_without_gpus_the_one_that_does_not_use_its_core_is_the_hint():
    verdict = idle(graphs(4), 2710, 0, 1, 3).verdict()
    assert (verdict.state, verdict.hang, verdict.failed_ranks) == ("stalled", "waits-for-one", ())
    assert "TP2 does not" in verdict.summary


def test_with_the_log_alone_the_missing_rank_is_named():
    verdict = loading(4).wait(10).end("weights", [0, 1, 2], seconds=10.0).verdict(1801)
    assert (verdict.state, verdict.hang, verdict.failed_ranks) == ("stalled", "waits-for-one", (3,))
    assert "the log has been silent for 30 min 1 s" in verdict.summary


# --- spinning -----------------------------------------------------------------------------------------------


def test_full_gpus_at_idle_power_wait_for_each_other():
    line = graphs(4)
    for _ in range(899):
        line.wait(1).gpus(100, 100, 100, 100).burn(0, 1, 2, 3).sample()
    assert line.verdict().state == "slow"
    for _ in range(3):
        line.wait(1).gpus(100, 100, 100, 100).burn(0, 1, 2, 3).sample()
    verdict = line.verdict()
    assert (verdict.state, verdict.hang, verdict.failed_ranks) == ("stalled", "spinning", ())
    assert "all 4 GPUs are at 100 % but hardly draw power (130 W of 700 W)" in verdict.summary
    assert "they wait for each other" in verdict.summary
    assert any("gpus: 4 at full utilisation but low power" in text for text in verdict.evidence)


def test_full_gpus_that_draw_power_compute():
    line = graphs(4)
    for _ in range(1800):
        line.wait(1).gpus(100, 100, 100, 100, power=520.0).sample()
    verdict = line.verdict()
    assert (verdict.state, verdict.hang) == ("starting", "")


def test_a_gpu_without_a_power_limit_claims_nothing():
    line = graphs(2)
    for _ in range(910):
        line.wait(1).gpus(100, 100, limit=0.0).sample()
    assert line.verdict().hang == "silent"


def test_memory_that_grows_is_work_whatever_the_gpus_draw():
    line = graphs(2)
    for second in range(1200):
        line.wait(1).gpus(100, 100, used=9000 + 20 * second).sample()
    assert line.verdict().state == "starting"


def test_ranks_that_burn_a_core_each_spin_where_there_is_no_gpu():
    verdict = idle(graphs(2), 2710, 0, 1).verdict()
    assert (verdict.state, verdict.hang) == ("stalled", "spinning")
    assert "all 2 ranks use a whole core each and nothing else has moved for 45 min" in verdict.summary


def test_over_several_nodes_they_may_wait_for_another_one():
    line = loading(4, nnodes=2).spawn(2).wait(1).end("weights", [0, 1])
    line.begin("graphs", [0, 1], role="target", part="decode")
    for _ in range(910):
        line.wait(1).gpus(100, 100).burn(0, 1).sample()
    verdict = line.verdict()
    assert verdict.hang == "spinning"
    assert "or for another node" in verdict.summary


# --- stopped, uninterruptible -------------------------------------------------------------------------------


def test_a_stopped_rank_is_proof_and_its_end_is_recovery():
    line = loading(2).spawn(2).wait(1).change(1, state="T").sample()
    verdict = idle(line, 4).verdict()
    assert (verdict.state, verdict.hang, verdict.failed_ranks) == ("stalled", "stopped", (1,))
    verdict = line.change(1, state="R").wait(1).fault_in(1).sample().verdict()
    assert (verdict.state, verdict.hang, verdict.failed_ranks) == ("starting", "", ())


@pytest.mark.parametrize(
    ("wchan", "after", "words"),
    [
        ("folio_wait_bit_common", 60, "TP1 waits for storage (state D, folio_wait_bit_common)"),
        ("rpc_wait_bit_killable", 300, "TP1 waits for a network file system (state D, rpc_wait_bit_killable)"),
        ("os_acquire_rwlock_write", 60, "TP1 waits for the GPU driver (state D, os_acquire_rwlock_write)"),
        ("something_new", 60, "TP1 waits in the kernel (state D, something_new)"),
        ("", 60, "TP1 waits in the kernel (state D)"),
    ],
)
def test_one_that_waits_in_the_kernel_while_peers_go_on(wchan: str, after: int, words: str):
    line = loading(2).spawn(2).change(1, state="D", wchan=wchan)
    for _ in range(after - 1):
        line.wait(1).fault_in(0).sample()
        assert line.verdict().state in ("starting", "slow")
    verdict = line.verdict()
    assert (verdict.state, verdict.hang) == ("slow", "")
    assert "TP1 has waited in the kernel" in verdict.summary
    verdict = line.wait(1).fault_in(0).sample().verdict()
    assert (verdict.state, verdict.hang, verdict.failed_ranks) == ("stalled", "uninterruptible", (1,))
    assert f"{words} and did nothing while peers went on." in verdict.summary
    verdict = line.change(1, state="R").wait(1).fault_in(1).sample().verdict()
    assert (verdict.state, verdict.hang) == ("starting", "")


def test_all_ranks_in_state_d_wait_without_a_culprit():
    line = loading(2).spawn(2).wait(1)
    for rank in (0, 1):
        line.change(rank, state="D", wchan="nfs_wait_client_init_complete")
    verdict = idle(line, 250).verdict()
    assert (verdict.state, verdict.hang, verdict.failed_ranks) == ("stalled", "uninterruptible", ())
    assert "TP0 and TP1 wait for a network file system" in verdict.summary


def test_reading_in_state_d_is_work():
    line = loading(2).spawn(2).wait(1)
    for second in range(600):
        line.wait(1).change(0, state="D", read_bytes=second * 10**7).change(1, state="D").sample()
    verdict = line.change(1, read_bytes=5).wait(1).sample().verdict()
    assert (verdict.state, verdict.hang) == ("starting", "")


# --- zombie, gone -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", ["zombie", "gone"])
def test_a_rank_that_went_without_a_word(shape: str):
    line = loading(2).spawn(2).wait(1)
    line = line.change(1, state="Z") if shape == "zombie" else line.kill(1)
    verdict = line.sample().verdict()
    assert (verdict.state, verdict.hang, verdict.failed_ranks) == ("failed", shape, (1,))


def test_one_that_said_why_has_no_shape():
    line = loading(2).spawn(2).fault("oom", rank=1).wait(1).kill(1).sample()
    assert (line.verdict().state, line.verdict().hang) == ("failed", "")


def test_a_rank_lost_while_serving_is_gone():
    verdict = serving(2).spawn(2).wait(1).kill(1).sample().verdict()
    assert (verdict.state, verdict.hang) == ("degraded", "gone")


# --- no hang ------------------------------------------------------------------------------------------------


def test_compilers_keep_it_alive():
    line = graphs(2)
    for second in range(3000):
        work = Process(pid=500, ppid=101, start=5, title="cicc x", comm="cicc", state="R", cpu_s=float(second))
        line.tree[500] = work
        line.wait(1).sample()
    verdict = line.verdict()
    assert (verdict.state, verdict.hang) == ("starting", "")
    assert any("compilers at work" in text for text in verdict.evidence)


def test_what_counts_as_a_compiler_is_data():
    line = graphs(1)
    line.policy = load_policy({"compilers": ["tileiras"]})
    for second in range(2705):
        line.tree[500] = Process(pid=500, ppid=101, start=5, title="x", comm="cicc", state="R", cpu_s=float(second))
        line.wait(1).sample()
    assert line.verdict().state == "stalled"
