"""One record after the other becomes events: header, rule, traceback."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bringup.core.dialect import Dialect
from bringup.core.emitting import Emitter
from bringup.core.events import Bar, Fault, Labels, PhaseBegan, PhaseEnded
from bringup.core.headers import LONGEST_NUMBER, Heading
from bringup.core.leads import Leads
from bringup.core.matching import Found, Matcher
from bringup.core.rule import line_text
from bringup.core.sanitize import without_colours
from bringup.core.timekeeper import Timekeeper
from bringup.core.tracebacks import TITLE, UNKNOWN, Trace, Voice, Voices, is_error
from bringup.core.wrappers import Peeler, Wrappers

_INDENT = (b" ", b"\t")
_MOST_HOMES = 4096


class Reader(Emitter):
    """Reads the records of one log; keeps what reaches over several lines."""

    def __init__(self, dialects: Sequence[Dialect], wrappers: Wrappers, time: Timekeeper, *, decided: bool) -> None:
        super().__init__(dialects, time, decided=decided)
        self.heard: set[Labels] = set()
        self.unknown = 0
        self._voices = Voices()
        self._homes: set[str] = set()
        """Places in which the engine's own header was seen."""
        self._other: Voice | None = None
        """Whom the next line without a name belongs to: two processes' names came before one line."""
        self._one_process = False
        """The origin of this record is one process."""
        self._peeler = Peeler(wrappers)
        self._leads = Leads()
        self._common = Matcher(wrappers.rules)

    @property
    def voice(self) -> Voice:
        """The writer of lines that no transport and no process name was put before."""
        return self._voices.nobody

    def end_line(self) -> None:
        """Go to the next line of the file."""
        self.line += 1
        self.origin, self._one_process = "", False

    def end_file(self) -> None:
        """Begin to count at the first line again; no traceback goes on in another file."""
        self.line, self.origin = 1, ""
        self.forget()

    def forget(self) -> None:
        """Let no traceback go on."""
        self._voices.forget()

    def record(self, record: bytes) -> None:
        """Read a record that may carry colours, wrappers and glued lines."""
        for text in self._parts(record) if record else ():
            dialect, heading = self._heading(text)
            if dialect is not None and heading is not None:
                self.headed(text, dialect, heading)
            elif text.strip(b". \t"):
                self._bare(text, self._voice(b""))

    def bar(self, record: bytes) -> dict[str, Any] | None:
        """Return the fields of the bar that an unfinished record shows, or None."""
        matchers = [dialect.matcher for dialect in self.dialects]
        for text in self._parts(record, whole=False):
            for matcher in (*matchers, self._common):
                found = matcher.find(text.rstrip())
                if found is not None and found[0].event is Bar:
                    return found[0].values(found[1])
        return None

    def headed(self, text: bytes, dialect: Dialect, heading: Heading) -> None:
        """Read a line that begins with an engine's header."""
        if not heading.record:
            self._named(text, dialect, heading)
            return
        voice, self._other = self._other or self._voice(b""), None
        self._recorded(text, dialect, heading, voice)

    def _named(self, text: bytes, dialect: Dialect, heading: Heading) -> None:
        """Read a line after the name of the process that wrote it.

        Names can follow each other: a process that renames itself prints both, and two processes that write at the same
        moment leave both names before the first line and none before the second (vLLM up to 0.30).
        """
        first, inner, rest = heading, heading, text[heading.size :]
        found = dialect.headers.read(rest)
        while found is not None and not found.record:
            inner, rest = found, rest[found.size :]
            found = dialect.headers.read(rest)
        voice = self._voice(inner.key)
        voice.labels = inner.labels or voice.labels
        if inner is heading and not self.origin:
            self._voices.name(text[: heading.size], voice)
        if first.key != inner.key:
            self._other = self._voice(first.key)
            self._other.labels = first.labels or self._other.labels
        self.pid = int(inner.key) if inner.key.isdigit() and len(inner.key) <= LONGEST_NUMBER else None
        if found is not None:
            self._recorded(rest, dialect, found, voice)
        else:
            self.heard.add(voice.labels)
            if rest.strip(b". \t"):
                self._bare(rest, voice)
        self.pid = None

    def _recorded(self, text: bytes, dialect: Dialect, heading: Heading, voice: Voice) -> None:
        """Read a line of a record; a record of several lines can have its header before each of them."""
        if heading.stamp:
            self.time.show(heading.stamp)
        if self.origin and len(self._homes) < _MOST_HOMES:
            self._homes.add(self.origin)
        if not (heading.repeats and voice.heading == heading):
            voice.heading = heading
            voice.trace = voice.announced = None
        elif voice.trace is not None:
            self._bare(text[heading.size :], voice)
            return
        labels = voice.whose
        self.heard.add(labels)
        found = dialect.matcher.find_headed(text, heading.size, labels != ())
        self.message(text, heading.size, found, voice, dialect)

    def message(self, text: bytes, start: int, found: Found | None, voice: Voice, dialect: Dialect) -> None:
        """Act on a message with a header; `found` is the rule with a literal beginning that knows it."""
        labels = voice.whose
        found = found or dialect.matcher.find_loose(text, start, labels != ()) or self._common.find(text, start)
        if found is None:
            self.unknown += 1
        else:
            self._speak(found, labels, dialect, voice)
            if not found[0].traceback:
                return
            voice.announce(found[0], self.line)
        if text.endswith(TITLE):
            voice.open(self.line, labels)

    def _bare(self, text: bytes, voice: Voice) -> None:
        """Read a line without a header: of a traceback, of a library, of a shell, or a bar."""
        if voice.trace is not None and self._continue(text, voice, voice.trace):
            return
        if text.startswith(TITLE):
            voice.open(self.line)
            return
        elsewhere = self._homes and self.origin and self.origin not in self._homes
        for dialect in self.dialects if not elsewhere else ():
            found = dialect.matcher.find(text)
            if found is not None:
                self._found_bare(found, voice, dialect)
                return
        found = self._common.find(text)
        if found is not None:
            self._found_bare(found, voice, None)
        elif text[:1] not in _INDENT and voice.trace is None:
            self._foreign(text, voice)

    def _foreign(self, text: bytes, voice: Voice) -> None:
        """A line that no rule knows where it stands; an error whose traceback was lost still tells its kind."""
        for matcher, dialect in self._matchers() if is_error(text) else ():
            found = matcher.find_exception(text)
            if found is not None and found[0].event is Fault:
                self.emit(found, voice.labels, dialect)
                return
        self.unknown += 1
        self._leave(voice)

    def _found_bare(self, found: Found, voice: Voice, dialect: Dialect | None) -> None:
        """Act on a rule for a line without a header; it is the rank's whose traceback is open, else nobody's."""
        labels = voice.trace.labels if voice.trace else voice.labels
        self._speak(found, labels, dialect, voice)
        if found[0].traceback:
            voice.announce(found[0], self.line)
        if voice.trace is None:
            self._leave(voice)

    def _continue(self, text: bytes, voice: Voice, trace: Trace) -> bool:
        """Offer a line to the open traceback; tells whether it was taken."""
        kind = trace.take(text)
        if kind == "frame" and not self.decided and not trace.quiet:
            self.decide(next((known for known in self.dialects if known.owns_frame(text)), None))
        if kind == "error":
            self._error(text, trace)
        if trace.ended:
            voice.trace = None
        return kind != "outside"

    def _error(self, text: bytes, trace: Trace) -> None:
        """Turn the last line of a traceback into the fault of its rank."""
        if trace.quiet:
            return
        for matcher, dialect in self._matchers() if trace.kind == UNKNOWN else ():
            found = matcher.find_exception(text)
            if found is not None and found[0].event is not Bar:
                self._known_error(found, trace, dialect)
                return
        kind = "import" if trace.kind == UNKNOWN and trace.modules > 1 else trace.kind
        self.events.append(Fault(kind=kind, text=line_text(text), secondary=trace.known, **self.place(trace.labels)))
        trace.known = trace.known or kind != UNKNOWN

    def _known_error(self, found: Found, trace: Trace, dialect: Dialect | None) -> None:
        """Emit the event of a traceback's last line; a known error makes those chained to it consequences."""
        is_fault = found[0].event is Fault
        self.emit(found, trace.labels, dialect, {"secondary": True} if is_fault and trace.known else None)
        trace.known = trace.known or (is_fault and not found[0].fixed.get("secondary"))

    def _speak(self, found: Found, labels: Labels, dialect: Dialect | None, voice: Voice) -> None:
        """Emit the event of a rule; where a process tells which rank it is, its later lines are that rank's."""
        rule, match = found
        if rule.names_rank and voice.named and not voice.labels and rule.event in (PhaseBegan, PhaseEnded):
            voice.labels = labels = rule.labels(match, labels)
        self.emit(found, labels, dialect)

    def _leave(self, voice: Voice) -> None:
        """A line of somebody else: what comes after it no longer belongs to the last header."""
        if voice.heading is not None and voice.heading.record:
            voice.heading = None

    def _voice(self, key: bytes) -> Voice:
        """Return the writer of a line, by its origin and the process name before it."""
        return self._voices.of(self.origin, key, named=self._one_process)

    def _parts(self, record: bytes, *, whole: bool = True) -> Iterator[bytes]:
        """Yield the texts of a record without colours and wrappers, parted where lines were glued together."""
        peeled = self._peeler.peel(without_colours(record), self._has_header, whole=whole)
        if peeled.origin:
            self.origin, self._one_process = peeled.origin, peeled.process
        text = peeled.text.rstrip()
        _, heading = self._heading(text)
        if peeled.size and whole and heading is not None and heading.record:
            head = record[: peeled.size]
            self._leads.learn(head, peeled.places, peeled.clock, peeled.origin, process=peeled.process)
        if peeled.stamp:
            self.time.wrap(peeled.stamp, heading.stamp if heading else b"")
        for piece in text.split(b"\r") if b"\r" in text else (text,):
            yield from self._glued(piece, is_headed=heading is not None)

    def _glued(self, text: bytes, *, is_headed: bool) -> Iterator[bytes]:
        """Yield a text without a header of its own cut where lines with one were glued to it."""
        if is_headed:
            yield text
            return
        parts = [text]
        for dialect in self.dialects:
            parts = dialect.headers.parts(text)
            if len(parts) > 1:
                break
        yield from (part.rstrip() for part in parts)

    def _heading(self, text: bytes) -> tuple[Dialect | None, Heading | None]:
        """Return the engine whose header the text begins with; of several the one that knows the message."""
        first: tuple[Dialect | None, Heading | None] = (None, None)
        for dialect in self.dialects:
            heading = dialect.headers.read(text)
            if heading is None:
                continue
            if self.decided or dialect.matcher.find(text, heading.size, labelled=heading.labels != ()):
                return dialect, heading
            if first[0] is None:
                first = dialect, heading
        return first

    def _has_header(self, text: bytes) -> bool:
        """Tell whether text begins as only an engine's output does: with its header, or with a traceback."""
        return text.startswith(TITLE) or self._heading(text)[1] is not None

    def _matchers(self) -> list[tuple[Matcher, Dialect | None]]:
        """Return the rules to ask for a traceback's last line: the engines', then those for everything else."""
        return [*((known.matcher, known) for known in self.dialects), (self._common, None)]
