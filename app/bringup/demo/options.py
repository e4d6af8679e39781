"""The arguments of the simulated server: the part of SGLang's that the demo's launch and its restarts use."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line asked for."""

    model: str
    served_name: str
    draft: str | None
    algorithm: str | None
    host: str
    port: int
    ranks: int
    fraction: float

    def server_args(self) -> dict[str, object]:
        """Return the arguments in the order and under the names in which the server prints them."""
        return {
            "model_path": self.model,
            "tokenizer_path": self.model,
            "tokenizer_mode": "auto",
            "tokenizer_worker_num": 1,
            "skip_tokenizer_init": False,
            "load_format": "auto",
            "model_loader_extra_config": "{}",
            "trust_remote_code": True,
            "context_length": None,
            "is_embedding": False,
            "dtype": "auto",
            "quantization": None,
            "kv_cache_dtype": "auto",
            "mem_fraction_static": self.fraction,
            "max_running_requests": 48,
            "chunked_prefill_size": 8192,
            "max_prefill_tokens": 16384,
            "schedule_policy": "fcfs",
            **self._places(),
        }

    def _places(self) -> dict[str, object]:
        drafting = self.algorithm is not None
        return {
            "host": self.host,
            "port": self.port,
            "device": "cuda",
            "tp_size": self.ranks,
            "pp_size": 1,
            "watchdog_timeout": 300,
            "soft_watchdog_timeout": None,
            "dist_timeout": None,
            "served_model_name": self.served_name,
            "dp_size": 1,
            "nnodes": 1,
            "node_rank": 0,
            "ep_size": 1,
            "enable_dp_attention": False,
            "speculative_algorithm": self.algorithm,
            "speculative_draft_model_path": self.draft,
            "speculative_num_steps": 3 if drafting else None,
            "speculative_eagle_topk": 1 if drafting else None,
            "speculative_num_draft_tokens": 4 if drafting else None,
            "disable_cuda_graph": False,
            "enable_metrics": False,
        }


def parse(argv: Sequence[str]) -> Options:
    """Read the command line; ends the process with status 2 for what it does not know, as the original does."""
    parser = argparse.ArgumentParser(prog="launch_server.py", allow_abbrev=False)
    parser.add_argument("--model-path", "--model", required=True)
    parser.add_argument("--served-model-name")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=30000)
    parser.add_argument("--tp", "--tp-size", "--tensor-parallel-size", type=int, default=1)
    parser.add_argument("--mem-fraction-static", type=float, default=0.85)
    parser.add_argument("--speculative-algorithm")
    parser.add_argument("--speculative-draft-model-path", "--speculative-draft-model")
    parser.add_argument("--speculative-num-steps", type=int)
    parser.add_argument("--speculative-eagle-topk", type=int)
    parser.add_argument("--speculative-num-draft-tokens", type=int)
    parser.add_argument("--trust-remote-code", action="store_true")
    given = parser.parse_args(argv)
    drafting = given.speculative_algorithm and given.speculative_draft_model_path
    return Options(
        model=given.model_path,
        served_name=given.served_model_name or given.model_path,
        draft=given.speculative_draft_model_path if drafting else None,
        algorithm=given.speculative_algorithm,
        host=given.host,
        port=given.port,
        ranks=given.tp,
        fraction=given.mem_fraction_static,
    )
