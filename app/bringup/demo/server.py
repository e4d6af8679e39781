"""The simulated launcher: what `python3 -m sglang.launch_server` runs on the demo's host."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import time
from pathlib import Path
from types import FrameType

from bringup.demo import engine_log as log
from bringup.demo import plan as plans
from bringup.demo import tracebacks
from bringup.demo.crew import ChildFailedError, ChildGoneError, Crew
from bringup.demo.http import Front
from bringup.demo.options import Options, parse
from bringup.demo.plan import Plan

HEALTH_TIMEOUT = 20.0
MOMENT = 5.0
"""Real seconds that children have for what they do at once, however fast the demo runs: machines have slow moments."""
WARMUP_TRIES = 120
"""Seconds for which the warm-up asks for the port's /model_info, once a second."""


def main() -> None:
    """Start a server as the command line says, and end as it ends."""
    began = time.monotonic()
    plan = plans.read(os.environ[plans.VARIABLE])
    threading.Thread(target=_end_with_demo, args=(plan.lifeline,), daemon=True).start()
    options = parse(sys.argv[1:])
    plan.sleep(plan.durations.imports)
    log.emit(log.entry_warning(str(Path(sys.argv[0]))))
    for path in (options.model, options.draft):
        if path is not None and not (Path(path) / "config.json").is_file():
            log.emit(tracebacks.bad_path(path))
            sys.exit(1)
    Launcher(plan, options, began).run()


def _end_with_demo(lifeline: str) -> None:
    """End this process when the demo is gone: its children follow by themselves."""
    with Path(lifeline).open("rb") as pipe:
        pipe.read()
    os.kill(os.getpid(), signal.SIGKILL)


class Launcher:
    """The main process: children, HTTP, warm-up, traffic, and the ways to end."""

    def __init__(self, plan: Plan, options: Options, began: float) -> None:
        self._plan = plan
        self._options = options
        self._voice = log.Voice()
        self._signals: list[int] = []
        self._voice.say(log.server_args(options.server_args()))
        signal.signal(signal.SIGQUIT, self._child_failed)
        self._crew = Crew(plan, options, began)
        self._voice.say("Using default HuggingFace chat template with detected content format: openai")

    def run(self) -> None:
        """Start, serve, end."""
        served = False
        try:
            while self._crew.ready < self._options.ranks:
                self._crew.attend(0.05)
            front = self._open()
            served = self._warm_up(front)
            self._serve(front)
        except ChildFailedError:
            self._end_of_child_failure(served=served)
        except ChildGoneError as gone:
            self._end_of_lost_child(gone, served=served)
        finally:
            # Reached by SIGINT before the server listens: Python's own KeyboardInterrupt.
            self._kill_tree(include_parent=False)

    def _open(self) -> Front:
        """Bind the port, after the lines that come before it."""
        self._catch(signal.SIGTERM, signal.SIGINT)
        self._voice.uvicorn(f"Started server process [{os.getpid()}]")
        self._voice.uvicorn("Waiting for application startup.")
        self._voice.uvicorn("Application startup complete.")
        try:
            front = Front(self._options, self._check, lambda: self._crew.tell("request", 1))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            self._hang(error)
        front.start()
        where = f"http://{self._options.host}:{self._options.port}"
        self._voice.uvicorn(f"Uvicorn running on {where} (Press CTRL+C to quit)")
        return front

    def _hang(self, error: OSError) -> None:
        """Do what 0.5.15 does on a taken port: wait for its own warm-up with the GPUs full, deaf to SIGTERM."""
        address = f"('{self._options.host}', {self._options.port})"
        self._voice.uvicorn(
            f"[Errno {error.errno}] error while attempting to bind on address {address}: address already in use",
            "ERROR",
        )
        self._voice.uvicorn("Waiting for application shutdown.")
        self._crew.attend(self._plan.pace(WARMUP_TRIES))
        self._voice.say("Initialization failed. warmup error: model_info was not answered in 120 tries")
        self._kill_tree(include_parent=True)

    def _warm_up(self, front: Front) -> bool:
        warmup = self._plan.durations.warmup
        self._crew.attend(self._plan.pace(warmup * 0.2))
        log.access(self._options.port + 7, "GET /model_info", "200 OK")
        self._crew.attend(self._plan.pace(warmup * 0.75))
        self._crew.tell("warmup", 1)
        self._crew.attend(self._plan.pace(warmup * 0.05))
        log.access(self._options.port + 9, "POST /generate", "200 OK")
        front.status = "up"
        self._voice.say("The server is fired up and ready to roll!")
        return True

    def _serve(self, front: Front) -> None:
        request = time.monotonic() + self._plan.pace(self._plan.durations.traffic / 3)
        port = self._options.port
        while not self._signals:
            self._crew.attend(min(0.5, max(0.01, request - time.monotonic())))
            if time.monotonic() >= request:
                request += self._plan.pace(self._plan.durations.traffic)
                self._crew.tell("request", 1)
                port = 40000 + (port * 7 + 11) % 20000
                log.access(port, "POST /v1/chat/completions", "200 OK")
        front.status = "stopping"
        if self._signals[0] == signal.SIGTERM:
            self._drain()
        else:
            self._shut_down()

    def _check(self) -> bool:
        """Return whether the ranks serve; a healthy answer takes a second, in which it looks once."""
        self._plan.sleep(1.0)
        if self._crew.ask_all("health", max(MOMENT, self._plan.pace(HEALTH_TIMEOUT))):
            return True
        self._voice.say(
            f"Health check failed. Server couldn't get a response from detokenizer for last {HEALTH_TIMEOUT:.0f} "
            "seconds. tic start time: unknown. last_heartbeat time: unknown"
        )
        return False

    def _drain(self) -> None:
        self._voice.say("SIGTERM received. signum=None frame=None. Draining requests and shutting down...")
        self._crew.attend(self._plan.pace(self._plan.durations.drain * 0.2))
        self._voice.say("Gracefully exiting... Remaining number of requests 0. Remaining requests remaining_rids=[].")
        self._crew.attend(self._plan.pace(self._plan.durations.drain * 0.6))
        log.emit(log.unclean_exit(0))
        self._plan.sleep(self._plan.durations.drain * 0.2)
        self._kill_tree(include_parent=True)

    def _shut_down(self) -> None:
        self._voice.uvicorn("Shutting down")
        self._voice.uvicorn("Waiting for application shutdown.")
        self._plan.sleep(self._plan.durations.drain * 0.2)
        self._voice.uvicorn("Application shutdown complete.")
        self._voice.uvicorn(f"Finished server process [{os.getpid()}]")

    def _end_of_child_failure(self, *, served: bool) -> None:
        if served:
            self._voice.say("SIGQUIT received. signum=None, frame=None. It usually means one child failed.")
            self._voice.say("Sleeping 5 seconds before crash diagnostics to let GPU activity settle.")
            self._plan.sleep(5.0)
        else:
            self._voice.say("Received sigquit from a child process. It usually means the child failed.")
        self._kill_tree(include_parent=True)

    def _end_of_lost_child(self, gone: ChildGoneError, *, served: bool) -> None:
        if not served:
            self._plan.sleep(1.0)
            self._kill_tree(include_parent=False)
            log.emit(tracebacks.died_in_start(gone.number, gone.status))
            sys.exit(1)
        if gone.name == "scheduler" and gone.number > 0:
            # Rank 0 notices first, by a connection that was reset, and fails by itself.
            self._crew.tell("peer lost", 1)
            self._crew.await_failure(MOMENT)
        else:
            self._voice.say(
                f"Subprocess {gone.name}_{gone.number} (pid={gone.pid}) crashed with exit code {gone.status}. "
                "Triggering SIGQUIT for cleanup..."
            )
        self._plan.sleep(0.5)
        self._end_of_child_failure(served=True)

    def _kill_tree(self, *, include_parent: bool) -> None:
        if self._crew.live() or include_parent:
            pid = os.getpid()
            self._voice.say(f"kill_process_tree called: parent_pid={pid}, include_parent={include_parent}, pid={pid}")
        self._crew.kill()
        if include_parent:
            os.kill(os.getpid(), signal.SIGKILL)

    def _catch(self, *numbers: int) -> None:
        for number in numbers:
            signal.signal(number, self._remember)

    def _remember(self, number: int, _frame: FrameType | None) -> None:
        self._signals.append(number)

    def _child_failed(self, _number: int, _frame: FrameType | None) -> None:
        self._crew.quit = True
