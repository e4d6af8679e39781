"""The bytes of tqdm's bars as SGLang draws them: CR first, and what follows it by version."""

from __future__ import annotations

Version = tuple[int, ...]
_EIGHTHS = " ▏▎▍▌▋▊▉"


def shard_states(version: Version, total: int) -> list[str]:
    """Return every state of a bar of shards; to 0.5.9 each has a line of its own, from 0.5.10 the bar is one line."""
    multi = version >= (0, 5, 10)
    title = "Multi-thread loading shards" if multi else "Loading safetensors checkpoint shards"
    end = "" if multi else "\n"
    states = []
    for done in range(total + 1):
        speed = f"[00:{done % 60:02}<00:10,  1.83s/it]" if done else "[00:00<?, ?it/s]"
        states.append(f"\r{title}: {done * 100 // total:3}% Completed | {done}/{total} {speed}{end}")
    states[-1] = states[-1] * 2 + "\n"
    return states


def graph_states(version: Version, title: str, total: int) -> list[str]:
    """Return the states of a capture bar: a nameless one first, then two for each shape, all in one line."""
    states = [f"\r{percent(0, total)} [00:00<?, ?it/s]"]
    what = "bs" if title == "Capturing batches" else "num_tokens"
    for done in range(total + 1):
        for shape in {min(total, total - done + 1), max(1, total - done)}:
            shown = f"{what}={shape} avail_mem=23.98 GB" if version >= (0, 4, 8) else "avail_mem=23.98 GB"
            states.append(f"\r{title} ({shown}): {percent(done, total)} [00:01<00:05,  2.86it/s]")
    return [*states, "\n"]


def percent(done: int, total: int) -> str:
    """Return the middle of a bar: share, blocks, count."""
    whole, part = divmod(done * 80 // total, 8)
    blocks = ("█" * whole + (_EIGHTHS[part] if part else "")).ljust(10)
    return f"{done * 100 // total:3}%|{blocks}| {done}/{total}"
