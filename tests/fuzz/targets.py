"""What must hold for any bytes at all, one function a reader: used by hypothesis in CI and by atheris by hand.

Each takes bytes and raises where something does not hold. The first bytes may say where the rest is cut.
"""

from __future__ import annotations

import io
import json
import tempfile
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path

from bringup.config.reading import read_config
from bringup.core.assess import assess
from bringup.core.decode import Decoder
from bringup.core.errors import UsageError
from bringup.core.events import Event, LinesRead, Server, ServerFound
from bringup.core.framing import LIMIT, Framer
from bringup.core.policy import Policy
from bringup.core.redact import mask
from bringup.core.reduce import reduce
from bringup.core.rules import Engine, parse_engine
from bringup.core.sanitize import clean, clean_text
from bringup.core.state import State
from bringup.core.wrappers import Peeler, Wrappers, parse_wrappers
from bringup.engines import load_engines, load_wrappers
from bringup.engines.patience import load_policy
from bringup.history.records import PhaseRow, StartKey, StartRow
from bringup.history.store import Store
from bringup.hosts.checkpoint.rows import read_rows
from bringup.hosts.control.journal import read_facts, unhex
from bringup.hosts.control.processes import parse_descriptions
from bringup.hosts.discover.rows import read_listing, read_places
from bringup.hosts.kernel_log.lines import decode as decode_kernel
from bringup.hosts.kernel_log.patterns import load_patterns
from bringup.hosts.logfile import read_log
from bringup.hosts.probe import ProbeDecoder
from bringup.hosts.recording import read_recording
from bringup.recordings.encoder import LogPiece, LogTurn
from bringup.recordings.masking import Masking
from bringup.recordings.rows import is_kept, masked, to_event, to_row
from bringup.report.history.files import to_csv, to_json

_CUTS = 4
SECRETS = (b"--api-key sk-abcdefgh12345678", b"HF_TOKEN=hf_abcdefgh12345", b"Authorization: Bearer abcdefgh.12345678")


@cache
def knowledge() -> tuple[tuple[Engine, ...], Wrappers, Policy]:
    """The shipped rules, loaded once."""
    return load_engines(), load_wrappers(), load_policy()


def cut(data: bytes) -> tuple[bytes, list[bytes]]:
    """Return the rest of the data behind the bytes that say where it is cut, whole and in pieces."""
    places, rest = data[:_CUTS], data[_CUTS:]
    ends = sorted({place * max(1, len(rest)) // 256 for place in places} | {0, len(rest)})
    return rest, [rest[a:b] for a, b in pairwise(ends)]


def texts(value: object) -> Iterator[str]:
    """Yield every text in a record, however deep."""
    if isinstance(value, str):
        yield value
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from texts(getattr(value, field.name))
    elif isinstance(value, Mapping):
        yield from texts(tuple(value.items()))
    elif isinstance(value, tuple | list | frozenset | set):
        for item in value:
            yield from texts(item)


def shown(text: str) -> bool:
    """Whether a terminal only prints it: no control, nothing of zero width, no line end."""
    return not any(unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") for letter in text)


def judged(events: Iterable[Event]) -> None:
    """Whatever was read can be reduced, judged and shown."""
    state, last = State(), 0.0
    for event in events:
        state = reduce(state, event)
        last = max(last, event.at)
    verdict = assess(state, last, knowledge()[2])
    assert verdict.summary
    for text in texts(verdict):
        text.encode()
        assert shown(clean_text(text))


def framing(data: bytes) -> None:
    """However the bytes are cut, the same records come; none is longer than the limit, no byte is invented."""
    whole, pieces = cut(data)
    one, many = Framer(), Framer()
    records = [*one.feed(whole), *one.close()]
    assert [*(record for piece in pieces for record in many.feed(piece)), *many.close()] == records
    assert all(len(record) <= LIMIT for record in records)
    assert not any(mark in record for record in records for mark in (b"\n", b"\r"))
    bounded = Framer(limit=8)
    short = [record for piece in pieces for record in bounded.feed(piece)]
    assert all(len(record) <= 8 for record in short)
    assert len(bounded.tail) <= 8
    assert short + bounded.close() == [record[:8] for record in records]


def rules(data: bytes) -> None:
    """Any log in any pieces gives the same events, all of which can be judged and shown."""
    engines, wrappers, _ = knowledge()
    whole, pieces = cut(data)
    found = [_log_events(Decoder(engines, wrappers), chunks) for chunks in ([whole], pieces)]
    assert found[0] == found[1]
    judged(found[0])


def _log_events(decoder: Decoder, chunks: list[bytes]) -> list[Event]:
    """The events of a log in pieces; that the end is looked at in between must change nothing."""
    events: list[Event] = []
    for chunk in chunks:
        events += decoder.feed(chunk, None)
        decoder.peek(None)
    events += decoder.close(None)
    return [event for event in events if not isinstance(event, LinesRead)]


def wrapped(data: bytes) -> None:
    """Taking wrappers off a record never fails, and invents no byte beyond what a mapping's text escapes."""
    _, wrappers, _ = knowledge()
    peeler = Peeler(wrappers)
    for record in data.splitlines():
        for whole in (False, True):
            peeled = peeler.peel(record, lambda text: text.startswith(b"["), whole=whole)
            assert len(peeled.text) <= 2 * LIMIT + len(record)
            assert shown(peeled.origin)


def probe(data: bytes) -> None:
    """Whatever a host answers to the probe, in whatever pieces, gives the same harmless events."""
    whole, pieces = cut(data)
    one, many = ProbeDecoder(100), ProbeDecoder(100)
    events = one.feed(whole)
    assert [event for piece in pieces for event in many.feed(piece)] == events
    assert one.now == many.now
    for event in events:
        for text in texts(event):
            text.encode()
    judged(events)


def answers(data: bytes) -> None:
    """Whatever the scripts that look around are answered, it is read."""
    read_listing(data)
    read_places(data)
    read_rows(data)
    parse_descriptions(data)
    unhex(data.decode("utf-8", "replace"))
    assert all(map(shown, read_facts(data.decode("utf-8", "replace")).values()))
    for line in decode_kernel(data, {1, 41210}, load_patterns()):
        assert shown(line.text)


def recordings(data: bytes) -> None:
    """A recording is read as far as it goes or refused with a sentence; what was read can be judged."""
    try:
        found = read_recording(read_log("given", io.BytesIO(data)))
    except UsageError as error:
        assert shown(clean_text(str(error)))  # noqa: PT017
        return
    engines, wrappers, _ = knowledge()
    decoder = Decoder(engines, wrappers)
    events: list[Event] = []
    for _, item in found.items:
        match item:
            case bytes():
                events += decoder.feed(item, found.wall)
            case LogPiece():
                events += decoder.feed(item.data, item.at)
            case LogTurn():
                events += [*decoder.close(None), item.moved]
            case _:
                events.append(item)
    judged(events)
    _kept_again(events)


def _kept_again(events: Iterable[Event]) -> None:
    for event in events:
        if is_kept(event):
            row = json.loads(to_row(1.0, event))
            assert to_event(row) == masked(event)


def masking(data: bytes) -> None:
    """A secret is masked however the log was cut, and the same is written in the end."""
    whole, pieces = cut(data)
    secret = SECRETS[len(whole) % len(SECRETS)]
    middle = [b"\n", *(secret[at : at + 5] for at in range(0, len(secret), 5)), b"\n"]
    one, many = Masking(), Masking()
    line = b"\n" + secret + b"\n"
    written = one.feed(whole + line + whole) + one.close()
    assert b"".join(map(many.feed, [*pieces, *middle, *pieces])) + many.close() == written
    assert secret.split(b"=")[-1].split()[-1] not in written


def sanitized(data: bytes) -> None:
    """What is cleaned is printable, stays as it is when it is cleaned again, and masking it changes no width of it."""
    text = clean(data)
    assert shown(text)
    assert not any(letter in text for letter in "\x1b\x9b\0\r\n\u202e\u200b\u2066\u3164")
    assert clean_text(text) == text
    assert mask(mask(text)) == mask(text)
    text.encode()
    clean_text(data.decode("utf-8", "surrogateescape")).encode()


def configuration(data: bytes) -> None:
    """A configuration is taken or told to be wrong with a sentence that can be shown; rule files likewise."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "config.toml")
        file.write_bytes(data)
        read = read_config(file)
    assert all(shown(str(problem)) for problem in read.problems)
    try:
        table = tomllib.loads(data.decode("utf-8", "replace"))
    except (tomllib.TOMLDecodeError, RecursionError):
        return
    for parse in (parse_engine, parse_wrappers):
        try:
            parse(table, "own.toml")
        except UsageError as error:
            assert shown(clean_text(str(error)))  # noqa: PT017


def history(data: bytes) -> None:
    """Names of a host go through the history and out as JSON and CSV, whatever they hold."""
    words = data.decode("utf-8", "surrogateescape").split("\x1f")
    words += [""] * (6 - len(words))
    key = StartKey(words[0], words[1], words[2], words[3], tp=len(data))
    number = len(data) / 7
    rows = (PhaseRow("weights", "target", words[4], number, number, ended=bool(len(data) % 2)),)
    start = StartRow(key, words[5], "", 1e9 + number, "ready", number, version=words[4], cause=words[5], phases=rows)
    server = Server(pid=1, start=2, engine=words[1], argv=tuple(words), model=words[2])
    to_row(1.0, ServerFound(at=1.0, server=server))
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        store.record(start)
        (kept,) = store.starts()
    assert replace(kept, number=0, phases=()) == replace(start.harmless(), phases=())
    (told,) = json.loads(to_json([kept]))["starts"]
    assert told["model"] == mask(clean_text(words[2]))[:400] or "***" in told["model"]
    to_csv([kept]).encode()


TARGETS: Mapping[str, Callable[[bytes], None]] = {
    target.__name__: target
    for target in (
        framing, rules, wrapped, probe, answers, recordings, masking, sanitized, configuration, history,
    )
}  # fmt: skip
