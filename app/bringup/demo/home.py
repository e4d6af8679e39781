"""The home folder of the simulated host: programs, models, the plan, and what belongs to it on a real machine."""

from __future__ import annotations

import dataclasses
import os
import shutil
import sys
import tempfile
from importlib import resources
from pathlib import Path

import bringup
from bringup.core.errors import BringupError
from bringup.demo import checkpoint
from bringup.demo import plan as plans
from bringup.demo.engine_log import VERSION
from bringup.demo.plan import Plan

ENTRY = """\
import sys

sys.path.append({app!r})

from bringup.demo.server import main  # noqa: E402

if __name__ == "__main__":
    main()
"""
PASSED_ON = ("LANG", "LC_ALL", "LC_CTYPE", "TZ")
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
ROOM = "It needs a few MB in a folder that can be written to: name one with TMPDIR."


def make_root() -> Path:
    """Make the folder of a host; raises BringupError where there is no room for it."""
    try:
        return Path(tempfile.mkdtemp(prefix="bringup-demo-"))
    except OSError as error:
        raise BringupError(f"The demo has no folder to build its host in: {error.strerror}.", ROOM) from error


class Home:
    """Where everything is."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.bin = root / "bin"
        self.python = self.bin / "python3"
        self.site = root / "site-packages"
        self.target = root / "models" / "Kimi-K2.5"
        self.draft = root / "models" / "Kimi-K2.5-Eagle3"
        self.log = root / "server.log"
        self.state = root / "gpus"
        self.plan = root / "plan.json"
        self.key = root / ".ssh" / "id_ed25519"
        self.known_hosts = root / ".ssh" / "known_hosts"

    def build(self, plan: Plan) -> Plan:
        """Make all of it and return the plan with its paths."""
        for folder in (self.bin, self.site / "sglang", self.state / "claims", self.key.parent):
            folder.mkdir(parents=True)
        # The interpreter itself, not a virtual environment's: nothing but the standard library is on its path.
        self.python.symlink_to(Path(sys.executable).resolve())
        smi = self.bin / "nvidia-smi"
        smi.write_bytes(resources.files("bringup.demo").joinpath("nvidia-smi").read_bytes())
        smi.chmod(0o755)
        self._install()
        checkpoint.make_target(self.target, plan.target_class, plan.shards)
        prefix = "draft_model." if plan.fault.kind == "dead-draft" else ""
        checkpoint.make_draft(self.draft, plan.draft_class, prefix)
        lifeline = self.root / "lifeline"
        os.mkfifo(lifeline, 0o600)
        placed = dataclasses.replace(plan, state=str(self.state), lifeline=str(lifeline))
        plans.save(placed, self.plan)
        return placed

    def environ(self, user: str) -> dict[str, str]:
        """Return the environment of a login on this host."""
        kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        mine = {"HOME": str(self.root), "USER": user, "LOGNAME": user, "SHELL": "/bin/sh"}
        return {**kept, **mine, "PATH": f"{self.bin}:{SYSTEM_PATH}"}

    def server_environ(self, user: str) -> dict[str, str]:
        """Return the environment of the server, which a restart repeats."""
        return {**self.environ(user), "PYTHONPATH": str(self.site), plans.VARIABLE: str(self.plan)}

    def command(self, plan: Plan, port: int) -> tuple[str, ...]:
        """Return the command line that launches the server."""
        return (
            *("python3", "-m", "sglang.launch_server"),
            *("--model-path", str(self.target), "--trust-remote-code", "--tp", str(plan.ranks)),
            *("--speculative-algorithm", "EAGLE3", "--speculative-draft-model-path", str(self.draft)),
            *("--speculative-num-steps", "3", "--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "4"),
            *plan.args,
            *("--host", "127.0.0.1", "--port", str(port)),
        )

    def remove(self) -> None:
        """Remove the folder; the supervisor has usually done so already."""
        shutil.rmtree(self.root, ignore_errors=True)

    def _install(self) -> None:
        """Put a package on the host that looks like the engine and runs the demo's server."""
        package = self.site / "sglang"
        app = str(Path(bringup.__file__).parent.parent)
        (package / "__init__.py").write_text(f'__version__ = "{VERSION}"\n')
        (package / "version.py").write_text(f'__version__ = "{VERSION}"\n')
        (package / "launch_server.py").write_text(ENTRY.format(app=app))
        information = self.site / f"sglang-{VERSION}.dist-info"
        information.mkdir()
        (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: sglang\nVersion: {VERSION}\n")
