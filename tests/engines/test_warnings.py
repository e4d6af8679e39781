"""Warnings of SGLang's log, from its lines to the sentences: once each, with numbers, and of the right model."""

from __future__ import annotations

from explaining import explained
from timeline import serving

from bringup.core.events import Gpu, GpuApp, GpusSeen
from bringup.core.verdict import Verdict

ARGS = (
    "server_args=ServerArgs(model_path='/m', port=30000, tp_size=2, speculative_algorithm='EAGLE', "
    "speculative_draft_model_path='/d')"
)
UP = (
    "max_total_num_tokens=9000, chunked_prefill_size=8192, max_prefill_tokens=16384, max_running_requests=48, "
    "context_len=4096"
)


class Log:
    """A log of two ranks, a line at a time."""

    def __init__(self) -> None:
        self.second = 0
        self.text = ""
        self.main(ARGS)

    def main(self, *messages: str) -> Log:
        """Let the main process print."""
        for message in messages:
            self._put("", message)
        return self

    def ranks(self, *messages: str) -> Log:
        """Let both ranks print the same."""
        for message in messages:
            for rank in (0, 1):
                self._put(f" TP{rank}", message)
        return self

    def load(self, *between: str, model: str = "LlamaForCausalLM") -> Log:
        """Let both ranks load a model, and print something meanwhile."""
        self.ranks("Load weight begin. avail mem=70.00 GB", *between)
        return self.ranks(
            f"Load weight end. type={model}, dtype=torch.bfloat16, avail mem=60.00 GB, mem usage=9.00 GB."
        )

    def ready(self, left: str = "20.00") -> Log:
        """Let it become ready with so much memory left."""
        return self.ranks(f"{UP}, available_gpu_mem={left} GB").main("The server is fired up and ready to roll!")

    def verdict(self) -> Verdict:
        """Judge it."""
        return explained(self.text.encode())

    def _put(self, label: str, message: str) -> None:
        self.second += 1
        minute, second = divmod(self.second, 60)
        self.text += f"[2026-03-02 09:{minute:02}:{second:02}{label}] {message}\n"


def told(log: Log) -> list[tuple[str, str]]:
    return [(warning.kind, warning.detail) for warning in log.verdict().warnings]


def unmatched(count: int) -> list[str]:
    return [f"Parameter model.layers.{n}.k_scale not found in params_dict" for n in range(count)]


def test_names_of_the_target_and_of_the_draft_are_told_apart_once_for_all_ranks() -> None:
    log = Log().load(*unmatched(2)).load(*unmatched(9), model="LlamaForCausalLMEagle").ready()
    assert told(log) == [
        (
            "unmatched-weights",
            "2 weight names of the model that its class does not know, and left out: "
            "model.layers.0.k_scale and model.layers.1.k_scale",
        ),
        (
            "draft-mismatch",
            "9 weight names of the draft that its class does not know, and left out: "
            "such as model.layers.0.k_scale and model.layers.1.k_scale",
        ),
    ]
    assert log.verdict().state == "ready"


def test_very_many_names_are_counted_up_to_a_limit() -> None:
    ((kind, text),) = told(Log().load(*unmatched(60)))
    assert (kind, text.split(" weight")[0]) == ("unmatched-weights", "24 or more")


def test_graphs_that_are_off() -> None:
    log = Log().load().ranks("Cuda graph is disabled because of using torch native attention backend").ready()
    ((kind, text),) = told(log)
    assert kind == "graphs-disabled"
    assert "torch native attention backend" in text


def test_dumps_of_the_watchdog_are_one_warning_and_none_in_a_crash() -> None:
    dumps = [f"Pyspy dump for PID {pid} (sglang::scheduler_TP0):" for pid in (71, 72)]
    log = Log().load().ready().ranks(*dumps, "Scheduler watchdog timeout (self.watchdog_timeout=30, self.soft=True)")
    kinds = [kind for kind, _ in told(log)]
    assert kinds == ["watchdog", "watchdog"]
    assert log.verdict().state == "ready"
    crash = Log().load().main("Received sigquit from a child process. It usually means the child failed.")
    assert told(crash.ranks(*dumps)) == []


def test_memory_that_only_just_fits() -> None:
    assert told(Log().load().ready("20.00")) == []
    assert told(Log().load().ready("0.17")) == [
        ("memory-tight", "Only 0.17 GB of GPU memory were left when the ranks were up")
    ]


def test_a_full_cache() -> None:
    full = [f"KV cache pool is full. Retract requests. #retracted_reqs: {n}, #new_tokens_gained: 96" for n in (1, 2, 3)]
    assert told(Log().load().ready().ranks(*full)) == [
        ("memory-tight", "The KV cache is full, and requests that run are put back into the queue")
    ]


def test_memory_that_the_gpus_have_left() -> None:
    line = serving(2).spawn(2)
    apps = tuple(GpuApp(pid=101 + rank, gpu=rank, used=79000) for rank in (0, 1))
    gpus = (Gpu(index=0, used=80000, total=81559), Gpu(index=1, used=81200, total=81559))
    line.add(GpusSeen(at=line.now, gpus=gpus, apps=apps))
    texts = [warning.detail for warning in line.verdict().warnings if warning.kind == "memory-tight"]
    assert texts == ["Only 0.4 GiB of memory are free on GPU 1"]
