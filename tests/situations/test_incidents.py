"""Two real incidents, second by second, in SGLang's own lines: at no moment may the screen be wrong.

A model of 64 shards and its EAGLE-3 draft on eight GPUs. In the first, the log was read as finished, as running
backwards, and a health loop gave up on a start that worked; in the second the draft was never accepted, and nothing
said so.
"""

from __future__ import annotations

from logbars import shard_states
from story import Story

from bringup.core.events import HttpAnswered, LinesRead

RANKS = range(8)
SHARDS = 64
OLD = (0, 5, 9)
"""The draft is loaded after the captures of the target, and every state of the bar has a line of its own."""
ARGUMENTS = (
    "server_args=ServerArgs(model_path='/models/target', host='0.0.0.0', port=30000, tp_size=8, pp_size=1, dp_size=1, "
    "nnodes=1, node_rank=0, speculative_algorithm='EAGLE3', speculative_draft_model_path='/models/draft')"
)
STRAGGLER = 5


def launched() -> Story:
    story = Story(shards=SHARDS).found(tp=8, model="/models/target", draft_model="/models/draft", algorithm="EAGLE3")
    story.spawn(8).working(RANKS).wait(24).line(ARGUMENTS).wait(16)
    story.expect("starting", phase="launch")
    for rank in RANKS:
        story.line("Init torch distributed begin.", rank)
    story.wait(9)
    story.expect("starting", phase="distributed", done={"weights": ()})
    for rank in RANKS:
        story.line("Init torch distributed ends. elapsed=8.80 s, mem usage=1.06 GB", rank)
    story.wait(1)
    for rank in RANKS:
        story.line("Load weight begin. avail mem=137.61 GB", rank)
    return story


def end_of_load(story: Story, rank: int, role: str = "target") -> None:
    kind = "DeepseekV3ForCausalLM" if role == "target" else "LlamaForCausalLMEagle3"
    text = f"Load weight end. elapsed=120.10 s, type={kind}, dtype=torch.bfloat16, avail mem=61.40 GB, mem usage=76 GB."
    story.line(text, rank)


def target_loaded(story: Story) -> Story:
    """Rank 0 draws its bar to the end; the last rank ends ten minutes later."""
    bar = shard_states(OLD, SHARDS)
    for rank in RANKS:
        story.paces[rank] = 0.5 if rank != STRAGGLER else 0.08
    for done in range(SHARDS + 1):
        story.raw(bar[done])
        story.wait(2)
        story.expect("starting", "slow", phase="weights", role="target", bar=(done, SHARDS))
    # 100 % was taken for the end of loading. It is one bar, of one process, of one of two models.
    verdict = story.expect("starting", "slow", phase="weights", role="target", done={"weights": ()})
    assert verdict.ranks[0].progress is not None
    assert verdict.ranks[0].progress < 1.0
    for rank in RANKS:
        if rank != STRAGGLER:
            story.wait(1)
            end_of_load(story, rank)
    finished = tuple(rank for rank in RANKS if rank != STRAGGLER)
    story.working({STRAGGLER})
    story.expect("slow", within=180, done={"weights": finished}, stragglers=(STRAGGLER,), words="TP5")
    # The log says nothing any more; the maps of the last rank go on. Silence is no stall.
    story.wait(540)
    story.expect("slow", phase="weights", role="target", done={"weights": finished}, words="TP5")
    end_of_load(story, STRAGGLER)
    return story.working(RANKS)


def captured(story: Story, role: str, ranks: range) -> None:
    name = "cuda graph" if role == "target" else "draft cuda graph"
    for rank in ranks:
        story.line(f"Capture {name} begin. This can take up to several minutes. avail mem=24.05 GB", rank)
    story.wait(20)
    story.expect("starting", phase="graphs", role=role)
    for rank in ranks:
        story.line(f"Capture {name} end. Time elapsed: 19.8 s. mem usage=0.14 GB. avail mem=23.91 GB.", rank)


def draft_loaded(story: Story) -> None:
    for rank in RANKS:
        story.line("KV Cache is allocated. K size: 20.10 GB, V size: 20.10 GB", rank)
        story.line("Memory pool end. avail mem=26.61 GB", rank)
    story.wait(2)
    captured(story, "target", RANKS)
    story.wait(1)
    story.folder, story.shards, story.places = "/models/draft", 1, {}
    for rank in RANKS:
        story.line("Init torch distributed begin.", rank)
        story.line("Init torch distributed ends. elapsed=0.00 s, mem usage=0.00 GB", rank)
        story.line("Load weight begin. avail mem=23.90 GB", rank)
    verdict = story.expect("starting", phase="weights", role="draft", done={"weights": ()})
    assert {view.role for view in verdict.ranks} == {"draft"}
    for state in shard_states(OLD, 1):
        story.raw(state).wait(2)
        story.expect("starting", phase="weights", role="draft", done={"weights": ()})
    for rank in RANKS:
        end_of_load(story, rank, "draft")
    story.paces = {}
    story.wait(1)
    captured(story, "draft", RANKS)


def up(story: Story) -> Story:
    story.line("max_total_num_tokens=2402201, chunked_prefill_size=8192, context_len=131072", 0)
    for text in ("Started server process [41207]", "Waiting for application startup.", "Application startup complete."):
        story.line(f"INFO:     {text}")
    story.line("INFO:     Uvicorn running on http://0.0.0.0:30000 (Press CTRL+C to quit)")
    story.wait(1)
    # An open port that answers 503 is no server that serves.
    story.add(HttpAnswered(at=story.now, path="/health", status=503)).wait(4)
    story.expect("starting", phase="warmup")
    story.line("The server is fired up and ready to roll!")
    story.add(HttpAnswered(at=story.now, path="/health", status=200))
    story.expect("ready", phase="serving", words=("Ready", "30000"))
    return story


def test_the_start_that_was_given_up_on() -> None:
    story = target_loaded(launched())
    draft_loaded(story)
    up(story).wait(60)
    story.expect("ready")


def test_reading_the_same_lines_again_moves_nothing_back() -> None:
    story = launched()
    story.paces = dict.fromkeys(RANKS, 0.3)
    bar = shard_states(OLD, SHARDS)
    for done in range(60):
        story.raw(bar[done]).wait(1)
    before = story.expect("starting", "slow", bar=(59, SHARDS))
    # What `tail -10` showed again: a file that had not grown.
    for _ in range(30):
        story.add(LinesRead(at=story.now, size=0, lines=0, unknown=0)).wait(1)
    after = story.expect("starting", "slow", bar=(59, SHARDS))
    assert after.ranks[0].progress is not None
    assert before.ranks[0].progress is not None
    assert after.ranks[0].progress >= before.ranks[0].progress


def test_the_draft_that_was_never_accepted() -> None:
    story = target_loaded(launched())
    draft_loaded(story)
    up(story).working(())
    decode = (
        "Decode batch, #running-req: 4, #token: 5120, token usage: 0.00, accept len: 1.00, accept rate: 0.00, "
        "cuda graph: True, gen throughput (token/s): 61.20, #queue-req: 0"
    )
    for _ in range(2):
        story.wait(3).line(decode, 0)
        story.expect("ready")
    story.wait(3).line(decode, 0)
    story.expect("degraded", warnings=("draft-mismatch",), accept_len=1.0, words=("accept", "draft"))
    story.wait(30).line(decode, 0).wait(30)
    story.expect("degraded", warnings=("draft-mismatch",))
