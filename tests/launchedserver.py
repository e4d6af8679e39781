"""A server with everything about its launch that is hard to repeat; it tells what it was launched with."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fakeserver import read_pid, start_time
from waiting import alive, eventually

from bringup.core.events import Server

PROGRAM = """
import json, os, signal, sys, time
from pathlib import Path
print("to the output", flush=True)
print("to the errors", file=sys.stderr, flush=True)
mask = os.umask(0)
os.umask(mask)
facts = {
    "argv": Path("/proc/self/cmdline").read_bytes().hex(),
    "environ": sorted(word.hex() for word in Path("/proc/self/environ").read_bytes().split(b"\\0")),
    "cwd": os.getcwd(),
    "mask": mask,
    "session": os.getsid(0) == os.getpid(),
    "stdin": os.readlink("/proc/self/fd/0"),
    "hears": signal.getsignal(signal.SIGINT) is not signal.SIG_IGN,
    "open": sorted(int(name) for name in os.listdir("/proc/self/fd") if int(name) > 2)[:-1],
}
folder = Path(os.environb[b"FOLDER"].decode())
(folder / f"{os.getpid()}.json").write_text(json.dumps(facts))
if (folder / "die").exists():
    sys.exit("no memory for the KV cache\\nraise --mem-fraction-static")
if not (folder / "launcher").exists():
    (folder / "launcher").write_text(f"{os.getpid()}\\n")
time.sleep(600)
"""
NASTY = (
    b"",
    b"two words",
    b'it\'s "quoted" `x` $HOME $(id) \\ \\n %s',
    b"line\nends\n",
    b"\xff\xfe\x01\t*?[a]",
    b"-n",
    b"a=b",
    b"",
)
ENVIRON = {
    b"PLAIN": b"1",
    b"EMPTY": b"",
    b"LINES": b"first\nsecond\n\n",
    b"QUOTES": b'it\'s "this" $(touch x) \\ %d',
    b"BYTES": b"\xff\xfe=\x01",
    b"BASH_FUNC_module%%": b"() {  eval `modulecmd bash $*`\n}",
    b"HF_TOKEN": b"hf_secret",
    b"-i": b"a name like an option",
}


@dataclass
class Launched:
    folder: Path
    log: Path
    process: subprocess.Popen[bytes]

    def seen(self, **more: object) -> Server:
        pid = self.process.pid
        given = {"pid": pid, "start": start_time(pid), "engine": "sglang", "argv": ("python", "server.py"), **more}
        return Server(**given)  # type: ignore[arg-type]

    def facts(self, pid: int) -> Mapping[str, object]:
        found: Mapping[str, object] = json.loads((self.folder / f"{pid}.json").read_text())
        return found

    async def told(self, pid: int) -> Mapping[str, object]:
        file = self.folder / f"{pid}.json"
        await eventually(lambda: file.exists() and file.read_text().endswith("}"))
        return self.facts(pid)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def launched(
    tmp_path: Path, words: Sequence[bytes] = (), wrap: Sequence[str] = (), **more: object
) -> Iterator[Launched]:
    """Launch it; `wrap` is a command that becomes it instead."""
    folder = tmp_path / "facts"
    cwd = tmp_path / "a place\nwith 'odd' name "
    log = tmp_path / "it's a log.txt"
    for each in (folder, cwd):
        each.mkdir()
    (cwd / "server.py").write_text(PROGRAM)
    environ = {b"FOLDER": os.fsencode(folder), b"PATH": os.fsencode(Path(sys.executable).parent) + b":/usr/bin:/bin"}
    mask = os.umask(0o027)
    try:
        with log.open("wb") as output:
            given = {"stdout": output, "stderr": output, **more}
            process = subprocess.Popen(
                [*wrap] or [b"python3", b"server.py", *words],
                env={**environ, **ENVIRON},
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                **given,  # type: ignore[call-overload]
            )
    finally:
        os.umask(mask)
    made = Launched(folder, log, process)
    try:
        read_pid(folder, "launcher")
        yield made
    finally:
        made.end()
        for file in folder.glob("*.json"):
            with contextlib.suppress(ProcessLookupError):
                if alive(int(file.stem)):
                    os.kill(int(file.stem), signal.SIGKILL)
