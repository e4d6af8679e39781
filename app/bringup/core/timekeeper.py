"""Which moment a line belongs to: its own stamp, the transport's, the last one known, or its arrival."""

from __future__ import annotations

from bringup.core.stamps import ALIKE, read_stamp, tells_year


class Timekeeper:
    """Follows the times of one log. Stamps are read only when somebody asks for the moment."""

    def __init__(self, utc_offset: float) -> None:
        self._offset = utc_offset
        self._arrived: float | None = None
        self._by: float | None = None
        """By when what was there before had been written; None where that is not known."""
        self._tells_year = False
        """A stamp has named its year: those after it that name none are close to it."""
        self._heard = 0.0
        """When the last bytes came that came while somebody listened; 0 where none have."""
        self._read = b""
        self._moment: float | None = None
        self._outer: float | None = None
        """The transport's time of the line that showed `_moment`."""
        self._printed = False
        self.text = b""
        """The newest line's own stamp, unread."""

    def arrive(self, at: float | None, by: float | None = None) -> None:
        """Begin a chunk that arrived at a time, or one that was in the file already, written `by` a time.

        After a connection that was lost, the latter is younger than what came before it.
        """
        if at is None and self._arrived is not None:
            self._heard = self._arrived
        self._arrived, self._by = at, by
        self._printed = False

    def wrap(self, text: bytes, own: bytes) -> None:
        """Take note of the transport's time of a line; `own` is the stamp under it, b"" for a line without one.

        Only its distance from the last line with both is used: the two may be in different zones.
        """
        outer = self._read_stamp(text, self._outer)
        if outer is None:
            return
        if own:
            self.show(own)
            self._outer = outer
            self.moment()
            return
        moment = self.moment()
        if self._outer is not None and moment is not None and outer > self._outer:
            self._moment = moment + outer - self._outer
            self._outer, self._read = outer, b""

    def show(self, text: bytes) -> None:
        """Take note of a line's own stamp.

        The one before it is read now where it is written in another way: it may tell the year that this one leaves out.
        """
        if self.text and self.text.translate(ALIKE) != text.translate(ALIKE):
            self.moment()
        self.text = text

    def moment(self) -> float | None:
        """Return the time of the newest line, or of the last one before it that had a time."""
        if self.text:
            if self.text != self._read:
                read = self._read_stamp(self.text, self._moment if self._moment is not None else self._outer)
                self._moment = self._moment if read is None else read
                self._read = self.text
            self._printed = True
            self.text = b""
        return self._moment

    def place(self) -> tuple[float, float | None]:
        """Return when an event of the newest line happened, and the line's own time."""
        moment = self.moment() if self.text and self.text != self._read else self._moment
        if self._arrived is not None:
            return self._arrived, moment
        return (self._heard if moment is None else moment), moment

    def printed(self) -> float | None:
        """Return the last time printed within the chunk, None where none was."""
        moment = self.moment()
        return moment if self._printed else None

    def now(self) -> float:
        """Return the time of an event of the newest line."""
        return self.place()[0]

    def _read_stamp(self, text: bytes, last: float | None) -> float | None:
        """Read a stamp: near to when it arrived, or to the last one, whose year may be a guess."""
        if self._arrived is not None:
            return read_stamp(text, self._offset, self._arrived)
        self._tells_year = self._tells_year or tells_year(text)
        return read_stamp(text, self._offset, last, None if self._tells_year else self._by)
