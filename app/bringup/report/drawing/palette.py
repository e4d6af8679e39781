"""Colours of the charts, for light and dark: the picture has no variables of CSS, which many viewers do not know.

All text on a phase is white: every colour here has a contrast of 4.5 to 1 with it (WCAG 2.1, 1.4.3).
"""

from __future__ import annotations

from collections.abc import Mapping

PHASES: Mapping[str, str] = {
    "launch": "#667085",
    "download": "#0e7490",
    "distributed": "#7048c8",
    "weights": "#1d62d1",
    "kv-cache": "#0b7a75",
    "compile": "#b45309",
    "graphs": "#b0346f",
    "warmup": "#8a6500",
    "serving": "#1b7f46",
}
"""By phase; each is named in words beside it, too."""
GPUS = (
    ("#1d62d1", "#6ea8fe"),
    ("#b45309", "#f5a65b"),
    ("#1b7f46", "#63c98a"),
    ("#b0346f", "#f07fb0"),
    ("#7048c8", "#b197fc"),
    ("#0e7490", "#5cc8e0"),
    ("#8a6500", "#dcb94b"),
    ("#b42318", "#ff8f84"),
)
"""Of the lines of GPUs, (light, dark)."""
_LIGHT = {
    "ink": "#1a2230",
    "soft": "#5a6577",
    "faint": "#e4e8ee",
    "lane": "#f3f5f8",
    "bad": "#c4241a",
    "paper": "#ffffff",
}
_DARK = {
    "ink": "#e6eaf0",
    "soft": "#9aa6b8",
    "faint": "#2b3442",
    "lane": "#1b2330",
    "bad": "#ff7b72",
    "paper": "#121821",
}
_FONT = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif"


def sheet() -> str:
    """Return the style sheet of all charts."""
    common = [
        f".chart text{{font-family:{_FONT};font-size:11px}}",
        ".chart .on{fill:#fff}.chart .strong{font-weight:600}.chart .num{font-variant-numeric:tabular-nums}",
        ".chart .line{fill:none;stroke-width:1.8;stroke-linejoin:round}",
        ".chart .track{fill-opacity:.28}.chart .grid{stroke-width:1}",
        ".chart .ghost{fill:none;stroke-dasharray:3 3}.chart .limit{stroke-dasharray:5 4}",
        *(f".chart .p-{phase}{{fill:{colour}}}" for phase, colour in PHASES.items()),
    ]
    return "".join(
        [*common, *_mode(_LIGHT, 0), f"@media screen and (prefers-color-scheme:dark){{{''.join(_mode(_DARK, 1))}}}"]
    )


def _mode(colours: Mapping[str, str], index: int) -> list[str]:
    return [
        f".chart text{{fill:{colours['ink']}}}.chart .on{{fill:#fff}}",
        f".chart .soft{{fill:{colours['soft']}}}.chart .bad{{fill:{colours['bad']}}}",
        f".chart .grid,.chart .limit,.chart .ghost{{stroke:{colours['faint']}}}",
        f".chart .lane{{fill:{colours['lane']}}}.chart .paper{{fill:{colours['paper']}}}",
        f".chart .limit,.chart .ghost{{stroke:{colours['soft']}}}",
        *(
            f".chart .g{number}{{stroke:{pair[index]}}}.chart .b{number}{{fill:{pair[index]}}}"
            for number, pair in enumerate(GPUS)
        ),
    ]
