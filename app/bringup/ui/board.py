"""The panels of the main screen: divides the room among them and paints each from one picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from textual.screen import Screen

from bringup.ui.division import Division, Needs, divide
from bringup.ui.keyed_app import own_keys_of
from bringup.ui.paint.footer import paint_footer
from bringup.ui.paint.gpus import paint_gpus
from bringup.ui.paint.holders import paint_held
from bringup.ui.paint.identity import paint_identity
from bringup.ui.paint.log import LogLook, paint_log_heading, why_no_log
from bringup.ui.paint.notices import paint_notices
from bringup.ui.paint.opening import OPENING_ROWS, paint_opening, paint_title
from bringup.ui.paint.phases import paint_phases
from bringup.ui.paint.phases import wanted_height as phases_height
from bringup.ui.paint.ranks import RanksLook, paint_ranks
from bringup.ui.paint.row import Row, plain
from bringup.ui.paint.verdict import paint_verdict
from bringup.ui.paint.verdict import wanted_height as verdict_height
from bringup.ui.picture import Picture
from bringup.ui.widgets.log import LogPane
from bringup.ui.widgets.painted import Painted
from bringup.ui.widgets.ranks import RankPanel

_BY_STATE = ("waiting", "unknown")
_TROUBLED = ("stalled", "failed", "stopped", "degraded")
"""States in which the verdict may take more rows: otherwise its size is fixed, so that nothing jumps."""


class Board:
    """Paints the widgets of a screen; holds how they are looked at, not what they show."""

    def __init__(self, screen: Screen[None], title: str) -> None:
        self._screen = screen
        self._title = title
        self.panel = "log"
        self.log_alone = False
        self.reserved = 0
        """Rows that something else takes above the footer."""
        self.footer: Callable[[Picture | None, int, str, Mapping[str, str]], Row] = paint_footer
        self.filtered: int | None = None
        """Rank that the log is filtered to."""
        self.filter_name = ""
        self.search = ""
        self.matches = 0
        self._division: Division | None = None

    def paint(self, picture: Picture) -> None:
        """Draw the picture."""
        width, height = self._screen.size
        height -= self.reserved
        division = self._divide(picture, width, height)
        old = picture.is_old
        self._painted("identity").show([paint_identity(picture, width)])
        self._painted("notices").show(paint_notices(picture, width))
        self._painted("verdict").show(paint_verdict(picture, width, division.verdict), faded=old)
        focused = self.panel
        if division.phases:
            rows = paint_phases(picture, width, division.phases, focused=focused == "phases")
            self._painted("phases").show(rows, faded=old)
        if division.ranks:
            self._paint_ranks(picture, width - division.gpu_width, division)
        if division.gpus:
            row = paint_held if picture.verdict.state == "waiting" else None
            rows = paint_gpus(picture, division.gpu_width or width, division.gpus, focused=focused == "gpus", row=row)
            self._painted("gpus").show(rows, faded=old)
        self._painted("footer").show([self.footer(picture, width, focused, own_keys_of(self._screen.app))])
        self.paint_log(picture)
        self._show_through()

    def _show_through(self) -> None:
        """Where several dialogs lie above, all but the topmost hold on to what they have drawn of this screen."""
        stack = self._screen.app.screen_stack
        if self._screen in stack:
            for between in stack[stack.index(self._screen) + 1 : -1]:
                between.refresh()

    def paint_log(self, picture: Picture | None) -> None:
        """Draw the heading of the log, which changes more often than the rest."""
        pane = self._screen.query_one(LogPane)
        look = LogLook(
            focused=self.panel == "log",
            following=pane.following,
            unseen=pane.unseen,
            wrapped=pane.wrapped,
            filter=self.filter_name,
            shown=len(pane.lines),
            search=self.search,
            matches=self.matches,
            alone=self.log_alone,
        )
        nothing = why_no_log(picture)
        if nothing != pane.nothing:
            pane.nothing = nothing
            pane.refresh()
        self._painted("log-heading").show([paint_log_heading(picture, self._screen.size.width, look)])

    def visible_text(self) -> str:
        """Return what the focused panel shows."""
        if self.panel == "log":
            return self._screen.query_one(LogPane).visible_text()
        return "\n".join(plain(row).rstrip() for row in self._painted(self.panel).rows)

    def paint_opening(self, text: str, hint: str, *, failed: bool) -> None:
        """Draw the screen while there is no connection."""
        width = self._screen.size.width
        self._apply(Division(0, OPENING_ROWS, 0, 0, 0))
        self._painted("identity").show([paint_title(self._title, width)])
        self._painted("verdict").show(paint_opening(text, hint, width, OPENING_ROWS, failed=failed))
        self._painted("footer").show([self.footer(None, width, self.panel, own_keys_of(self._screen.app))])
        self.paint_log(None)

    def _paint_ranks(self, picture: Picture, width: int, division: Division) -> None:
        panel = self._screen.query_one(RankPanel)
        ranks = picture.verdict.ranks
        rows = division.ranks - 1
        panel.count = len(ranks)
        panel.column = min(rows, -(-len(ranks) // division.rank_columns)) or 1
        panel.chosen = max(0, min(panel.chosen, len(ranks) - 1))
        look = RanksLook(
            rows=panel.column,
            columns=division.rank_columns,
            focused=self.panel == "ranks",
            chosen=panel.chosen if self.panel == "ranks" else None,
            filtered=self.filtered,
            with_memory=division.with_memory,
        )
        panel.show(paint_ranks(picture, width, look), faded=picture.is_old)

    def _divide(self, picture: Picture, width: int, height: int) -> Division:
        empty = picture.verdict.state in _BY_STATE and not picture.verdict.ranks
        gpus = len(picture.state.gpu.gpus) or (0 if empty else 1)
        needs = Needs(
            notices=len(paint_notices(picture, width)),
            verdict=verdict_height(picture, width) if self._has_to_explain(picture) else 0,
            phases=phases_height(picture),
            ranks=0 if empty else max(1, len(picture.verdict.ranks)),
            gpus=gpus,
            panel=self.panel,
            log_alone=self.log_alone,
        )
        division = divide(width, height, needs)
        self._apply(division)
        return division

    def _has_to_explain(self, picture: Picture) -> bool:
        verdict = picture.verdict
        return verdict.state in _TROUBLED or (verdict.state == "waiting" and bool(verdict.warnings))

    def _apply(self, division: Division) -> None:
        """Give the widgets their rows; a layout happens only when something is different."""
        if division == self._division:
            return
        self._division = division
        for name in ("notices", "verdict", "phases", "ranks", "gpus"):
            rows = getattr(division, name)
            widget = self._painted(name)
            widget.display = rows > 0
            widget.styles.height = rows
        self._space(division)
        gpus = self._painted("gpus")
        gpus.styles.width = division.gpu_width or "100%"
        self._screen.query_one("#middle").set_class(division.gpu_width > 0, "-beside")

    def _space(self, division: Division) -> None:
        """Set panels apart where there is room; `first` is the panel below the verdict."""
        first = "phases" if division.phases else "middle" if division.ranks or division.gpus else "log-heading"
        for name in ("phases", "middle", "log-heading"):
            apart = division.gaps > 1 or (division.gaps == 1 and name == first)
            self._screen.query_one(f"#{name}").styles.margin = (1 if apart else 0, 0, 0, 0)

    def _painted(self, name: str) -> Painted:
        return self._screen.query_one(f"#{name}", Painted)
