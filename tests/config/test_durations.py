from __future__ import annotations

import pytest

from bringup.config.durations import read_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("0", 0),
        ("1.5", 1.5),
        ("90s", 90),
        ("10m", 600),
        ("1h", 3600),
        ("1h30m", 5400),
        ("2d", 172800),
        (" 10M ", 600),
        ("1d2h3m4s", 93784),
    ],
)
def test_what_people_write(text: str, seconds: float) -> None:
    assert read_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "m", "-1", "1x", "1h 30m", "30m1h", "1m1m", "1e3", "nan", "inf", "١s", "99999d"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match=r"ten years|not a duration"):
        read_duration(text)
