"""Numbers and phases in words that a tired operator understands."""

from __future__ import annotations

from collections.abc import Sequence

from bringup.core.events import Phase, Role

BETWEEN = " / "
"""Stands between the lines of last words, put into one."""


def duration(seconds: float) -> str:
    """Return a duration: "9 s", "4 min 12 s", "2 h 5 min"."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def left(low: float, high: float) -> str:
    """Return a range of time left: "about 20-40 s", "up to 15 s", "under 10 s"; never finer than it is known."""
    if high < 10:
        return "under 10 s"
    if high >= 5400:
        return f"about {low / 3600:.1f}-{high / 3600:.1f} h"
    unit, size, step = ("s", 1, 5) if high < 90 else ("min", 60, 1)
    first, last = int(low / size) // step * step, -(-int(high / size) // step) * step
    last += step if last * size < high else 0
    if first == 0:
        return f"up to {last} {unit}"
    return f"about {first}-{last} {unit}" if first < last else f"about {last} {unit}"


def names(items: Sequence[str], most: int = 4) -> str:
    """Return a list in words: "TP3", "TP3 and TP5", "TP1, TP2, TP3 and 5 more"."""
    if len(items) > most:
        return f"{', '.join(items[: most - 1])} and {len(items) - most + 1} more"
    return " and ".join([", ".join(items[:-1]), items[-1]]) if len(items) > 1 else "".join(items)


def count(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: "1 line", "1,234 lines"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def whole_words(text: str, most: int) -> str:
    """Return a text as it is, or its first words where it has more than `most` characters."""
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    return f"{(cut.rpartition(' ')[0] or cut).rstrip()} …"


def last_line(said: str) -> str:
    """Return the last of some lines that were put into one."""
    return said.rpartition(BETWEEN)[2].strip()


def without_state(sentence: str, state: str) -> str:
    """Return a sentence as it stands beside the word of the state: without saying that word again."""
    word = state.capitalize()
    for lead in (f"{word}: ", f"{word} "):
        rest = sentence.removeprefix(lead)
        if rest and rest != sentence:
            return rest[0].upper() + rest[1:]
    return sentence


def doing(phase: Phase | None, role: Role | None, part: str = "") -> str:
    """Return what a phase does, as the start of a sentence."""
    model = f"{role} " if role else ""
    of_model = f" of the {role}" if role else ""
    inner = f" ({part})" if part else ""
    return {
        "launch": "Starting Python and importing modules",
        "download": "Downloading the model",
        "distributed": "Connecting the ranks with each other",
        "weights": f"Loading {model}weights",
        "kv-cache": f"Allocating the KV cache{of_model}",
        "compile": f"Compiling kernels{of_model}",
        "graphs": f"Capturing CUDA graphs{of_model}{inner}",
        "warmup": "HTTP is up, the warm-up request is running",
        "serving": "Serving",
    }.get(phase or "", "Starting")


def while_doing(phase: Phase | None, role: Role | None) -> str:
    """Return when something happened: "while loading target weights"."""
    if phase in (None, "launch"):
        return "while starting up"
    if phase == "warmup":
        return "during the warm-up"
    text = doing(phase, role)
    return f"while {text[0].lower()}{text[1:]}"


CAUSES = {
    "oom": "out of memory",
    "kv-too-small": "too little memory left for the KV cache",
    "nccl": "an NCCL error",
    "peer-lost": "a peer was lost",
    "port-in-use": "the port is in use",
    "bad-path": "a model path does not exist",
    "bad-checkpoint": "the checkpoint is damaged or incomplete",
    "config": "the configuration is not supported",
    "import": "an import failed",
    "gpu-memory-taken": "another process holds GPU memory",
    "gpu-fault": "a GPU failed",
    "driver": "the GPU driver refused",
    "download": "a download failed",
    "auth": "access to the model was denied",
    "disk-full": "the disk is full",
    "kernel": "a GPU kernel failed",
    "watchdog": "the watchdog fired",
    "warmup": "the warm-up request failed",
    "killed": "the process was killed",
    "timeout": "a time limit ran out",
    "wrapper": "the start script failed",
    "draft-mismatch": "the draft model does not fit",
    "comm-init": "the communication library could not start",
    "unknown": "an error",
}
"""Cause kinds as the middle of a sentence."""
