import pytest
from timeline import ROOT, Timeline, loading, serving

from bringup.core.events import ActionStep, Fact, HttpAnswered, PortSeen, ServerGone
from bringup.core.words import CAUSES


def test_the_first_primary_error_before_the_kill_is_the_cause():
    line = (
        loading(4)
        .fault("peer-lost", "reset", rank=2, secondary=True, line=10)
        .fault("oom", "no memory", rank=3, line=12)
    )
    line.fault("oom", "no memory", rank=1, line=13).ending("child-failed").fault("kernel", "noise", rank=0, line=20)
    verdict = line.verdict()
    assert verdict.state == "failed"
    assert verdict.cause is not None
    assert (verdict.cause.kind, verdict.cause.rank, verdict.cause.line_number) == ("oom", 3, 12)
    assert verdict.failed_ranks == (1, 3)
    assert verdict.summary == "Failed: out of memory on TP1 and TP3 while loading weights."
    assert "GPU" in verdict.cause.advice


def test_an_error_that_a_rule_could_name_beats_one_that_none_could():
    line = loading(2).fault("unknown", "strange", rank=0, line=1).fault("bad-checkpoint", "header", rank=1, line=2)
    cause = line.verdict().cause
    assert cause is not None
    assert cause.kind == "bad-checkpoint"


def test_a_rank_that_vanished_first_is_the_culprit_of_its_peers_errors():
    line = serving(2).spawn(2).wait(1).kill(1).sample()
    assert line.verdict().state == "degraded"
    line.fault("peer-lost", "Connection reset by peer", rank=0, secondary=True).wait(3).kill(0).kill(None).sample()
    verdict = line.verdict()
    assert (verdict.state, verdict.failed_ranks) == ("failed", (1,))
    assert verdict.cause is not None
    assert verdict.cause.kind == "killed"
    assert verdict.summary == "Failed: the process of TP1 was killed while serving."


def test_a_rank_that_printed_an_error_of_its_own_is_not_the_silent_one():
    line = serving(2).spawn(2).wait(1).fault("peer-lost", "reset", rank=0, secondary=True).kill(0).kill(1).sample()
    line.wait(1).kill(None).sample()
    assert line.verdict().failed_ranks == (1,)


def test_a_rank_gone_under_a_living_launcher_before_ready_is_a_failure():
    line = loading(4).spawn(4).wait(1).kill(2).sample()
    verdict = line.verdict()
    assert (verdict.state, verdict.failed_ranks) == ("failed", (2,))


def test_the_main_process_names_the_dead_rank():
    line = loading(2).fault("killed", "Rank 1 scheduler died during initialization (exit code: -9).", line=9)
    verdict = line.verdict()
    assert verdict.cause is not None
    assert (verdict.cause.kind, verdict.cause.rank, verdict.failed_ranks) == ("killed", 1, (1,))


def test_on_a_worker_node_the_engine_counts_its_children_from_zero():
    line = Timeline().launch(tp=8, nnodes=2, node_rank=1).fault("killed", "Rank 1 scheduler died")
    assert line.verdict().failed_ranks == (5,)


def test_only_secondary_errors_point_elsewhere():
    line = loading(4).fault("peer-lost", "Connection closed by peer", rank=1, secondary=True)
    line.fault("peer-lost", "Connection closed by peer", rank=3, secondary=True).ending("child-failed")
    verdict = line.verdict()
    assert verdict.cause is not None
    assert (verdict.cause.kind, verdict.cause.secondary, verdict.failed_ranks) == ("peer-lost", True, (1, 3))
    assert "another rank or node" in verdict.cause.advice


def test_errors_after_a_sigterm_are_noise():
    line = serving(1).ending("sigterm", line=90).fault("killed", "Detokenizer crashed").ending("child-failed")
    verdict = line.verdict()
    assert verdict.state == "stopped"
    assert verdict.cause is not None
    assert (verdict.cause.kind, verdict.cause.line, verdict.cause.line_number) == ("killed", "SIGTERM received", 90)


def test_an_error_before_a_sigterm_stays_the_cause():
    line = loading(1).fault("oom", "no memory", rank=0).ending("sigterm")
    assert line.verdict().state == "failed"


def test_a_launcher_that_ends_without_a_word_was_stopped():
    line = loading(2).spawn(2).wait(1).kill(None).sample()
    verdict = line.verdict()
    assert verdict.state == "stopped"
    assert verdict.cause is not None
    assert verdict.cause.kind == "killed"


def test_ranks_that_go_with_their_launcher_did_not_fail():
    line = loading(2).spawn(2).wait(1).kill(0).kill(1).sample()
    assert line.verdict().state == "starting"
    line.wait(1).kill(None).sample()
    assert line.verdict().state == "stopped"


def test_a_stop_by_the_operator_is_a_stop():
    line = loading(2).spawn(2)
    line.add(ActionStep(at=line.now, action="stop", step="SIGTERM sent")).wait(2).kill(0).kill(1).kill(None).sample()
    assert line.verdict().state == "stopped"


def test_of_a_server_that_has_ended_nothing_is_said_as_if_it_still_served():
    line = serving(2).found().spawn(2)

    line.add(PortSeen(at=line.now, port=30000, pid=ROOT), HttpAnswered(at=line.now, path="/health", status=200))
    assert any(told.startswith("port: 30000 is held by this server") for told in line.verdict().evidence)
    line.add(ActionStep(at=line.now, action="stop", step="SIGKILL sent.")).wait(1).add(
        ServerGone(at=line.now, pid=ROOT)
    )
    verdict = line.verdict()
    assert verdict.state == "stopped"
    assert [told for told in verdict.evidence if told.startswith(("port:", "http:", "process:"))] == []
    assert [view.trouble for view in verdict.ranks] == ["gone", "gone"]


def test_a_rank_that_lives_on_without_its_launcher_is_not_gone():
    line = serving(2).found().spawn(2)
    living = next(rank.pid for rank in line.state.attempt.ranks if rank.rank == 1)
    line.wait(1).add(ServerGone(at=line.now, pid=ROOT, orphans=(living,)))
    assert [view.trouble for view in line.verdict().ranks] == ["gone", ""]


def test_a_port_in_use_is_nobodys_rank():
    line = loading(1).end("weights").fault("port-in-use", "address already in use", vetoes_ready=True)
    verdict = line.verdict()
    assert (verdict.state, verdict.failed_ranks) == ("failed", ())
    assert verdict.summary.startswith("Failed: the port is in use")


def test_an_unlabelled_error_of_a_single_rank_is_its_own():
    line = loading(1).fault("kernel", "illegal memory access")
    assert line.verdict().failed_ranks == (0,)


def test_a_failure_before_any_launch_has_no_engine():
    verdict = Timeline().fault("wrapper", "source: not found", line=1).verdict()
    assert (verdict.state, verdict.phase, verdict.engine) == ("failed", "launch", None)


def test_without_an_error_line_a_killed_tree_is_a_failure_all_the_same():
    assert loading(2).ending("child-failed").verdict().state == "failed"


def test_a_second_attempt_is_not_coloured_by_the_first():
    line = loading(2).fault("oom", "no memory", rank=0).ending("child-failed").wait(3).launch(tp=2).wait(9)
    verdict = line.begin("weights", [0, 1]).verdict()
    assert (verdict.state, verdict.attempt, verdict.cause) == ("starting", 2, None)


@pytest.mark.parametrize("kind", sorted(CAUSES))
def test_every_kind_has_advice(kind):
    assert len(Timeline().policy.advice[kind]) > 30


def test_a_graceful_shutdown_is_a_stop_even_if_the_signal_was_not_seen():
    line = serving(2).spawn(2).wait(1).ending("shutdown").ending("tree-killed").wait(1).kill(0).sample()
    assert line.verdict().state == "stopped"
    line.wait(5).kill(1).kill(None).sample()
    assert line.verdict().state == "stopped"


def test_the_killing_of_the_tree_alone_says_nothing():
    assert serving(1).ending("tree-killed").verdict().state == "ready"


def test_a_failed_child_before_a_sigterm_stays_a_failure():
    assert serving(1).ending("child-failed").ending("sigterm").verdict().state == "failed"


def test_a_suspect_line_explains_a_stall_but_fails_nobody():
    line = loading(2)
    line.add(Fact(at=line.now, name="suspect", value="Rank 8 is NOT connected to: [1]"))
    assert (line.verdict().state, line.verdict().cause) == ("starting", None)
    cause = line.verdict(5000).cause
    assert cause is not None
    assert (cause.kind, cause.line) == ("comm-init", "Rank 8 is NOT connected to: [1]")
