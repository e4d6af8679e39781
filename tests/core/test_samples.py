from timeline import ROOT, Timeline, loading

from bringup.core.events import Process, ProcessesSeen
from bringup.core.shards import opened
from bringup.core.state import Mark


def test_a_missing_process_is_gone_from_its_first_missing_sample_on():
    line = loading(2).spawn(2).wait(1).kill(1).sample()
    at = line.now
    line.wait(1).sample()
    assert line.state.attempt.ranks[1].gone_at == at
    assert line.state.attempt.ranks[0].gone_at is None


def test_a_zombie_is_gone():
    line = loading(2).spawn(2).wait(1).change(1, state="Z").sample()
    assert line.state.attempt.ranks[1].gone_at == line.now


def test_idle_spinning_is_cpu_but_not_work():
    line = loading(1).spawn(1, title="sglang::scheduler").wait(1)
    line.change(0, cpu_s=1.0, rchar=32, minflt=1003).sample()
    assert line.state.tree_cpu.moved_at == line.now
    assert line.state.tree_work.moved_at == line.now - 1


def test_page_faults_and_reads_are_work():
    line = loading(2).spawn(2).wait(1).fault_in(1).sample()
    assert line.state.tree_work.moved_at == line.now
    assert line.state.attempt.ranks[1].faults.moved_at == line.now
    assert line.state.attempt.ranks[0].faults.moved_at == line.now - 1


def test_compilers_count_while_they_work():
    line = loading(1).spawn(1, title="sglang::scheduler").wait(1)
    line.tree[500] = Process(pid=500, ppid=101, start=5, title="nvcc x.cu", comm="nvcc", state="R")
    line.sample()
    began = line.now
    assert dict(line.state.children)["nvcc"] == Mark(1.0, began)
    line.wait(5).sample()
    assert dict(line.state.children)["nvcc"] == Mark(1.0, began)
    line.tree.pop(500)
    line.wait(1).sample()
    assert dict(line.state.children)["nvcc"] == Mark(0.0, began)


def test_ranks_are_no_children():
    line = loading(2).spawn(2).wait(1).change(0, comm="sglang::schedul", cpu_s=1.0).sample()
    assert "sglang::schedul" not in dict(line.state.children)


def test_names_of_children_are_bounded():
    line = loading(1).spawn(1, title="sglang::scheduler")
    for number in range(200):
        line.tree[500 + number] = Process(pid=500 + number, ppid=101, start=5, title="x", comm=f"tool{number}")
    line.wait(1).sample()
    assert len(line.state.children) == 64


def shards(line: Timeline, rank: int = 0, index: int = 0) -> tuple[int, int, int | None]:
    seen = line.state.attempt.ranks[rank].shards[index]
    return opened(seen), seen.read, seen.total


def test_one_shard_at_a_time_means_that_those_before_it_are_read():
    line = loading(2).spawn(2)
    for number in (1, 2, 3, 5):
        line.wait(1).map(0, number).sample()
    assert shards(line) == (5, 4, 64)


def test_many_threads_open_ahead_of_what_they_have_read():
    line = loading(2).spawn(2)
    for mapped in ([1, 2, 3], [1, 2, 3, 4], [2, 4, 5, 6], [4, 5, 6, 7]):
        line.wait(1).map(0, *mapped).sample()
    assert shards(line) == (7, 3, 64)


def test_an_unordered_loader_is_counted_not_guessed():
    line = loading(2).spawn(2)
    for number in (47, 3, 22, 60):
        line.wait(1).map(0, number).sample()
    assert shards(line) == (4, 3, 64)


def test_a_late_first_look_claims_nothing_that_was_not_seen():
    line = loading(2).spawn(2).wait(1).map(0, 40, 41).sample()
    assert shards(line) == (2, 0, 64)


def test_what_was_read_never_becomes_less():
    line = loading(2).spawn(2)
    for mapped in ([1], [2], [3], [], [1, 2, 3]):
        line.wait(1).map(0, *mapped).sample()
    assert shards(line)[1] == 3


def test_draft_shards_are_told_by_their_folder():
    line = loading(2, algorithm="EAGLE", draft_model="org/draft").spawn(2).wait(1)
    line.map(0, 1, of=2, folder="/cache/models--org--draft/snapshots/abc").sample()
    assert [s.role for s in line.state.attempt.ranks[0].shards] == ["draft"]
    line.wait(1).map(0, 1).sample()
    assert {s.role for s in line.state.attempt.ranks[0].shards} == {"draft", "target"}


def test_the_reading_rate_is_of_storage_between_two_samples():
    line = loading(2).spawn(2).wait(2).change(1, read_bytes=6_000_000_000, rchar=1).sample()
    assert line.state.attempt.ranks[1].read_rate == 3e9
    assert any("TP1" not in text or "GB/s" in text for text in line.verdict().evidence)


def test_a_late_sample_of_another_server_changes_nothing():
    line = loading(2).found(tp=2).spawn(2)
    before = line.state
    line.add(ProcessesSeen(at=line.now + 1, root=ROOT + 900, processes=()))
    assert line.state is before


def test_a_pid_that_is_used_again_is_not_the_rank():
    line = loading(2).spawn(2).wait(1).change(1, start=77, title="bash").sample()
    assert line.state.attempt.ranks[1].gone_at == line.now
