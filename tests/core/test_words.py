import pytest

from bringup.core.words import count, last_line, whole_words, without_state


@pytest.mark.parametrize(
    ("sentence", "state", "shown"),
    [
        ("Failed: out of memory on TP2.", "failed", "Out of memory on TP2."),
        ("Stalled while loading weights: TP1 is stopped.", "stalled", "While loading weights: TP1 is stopped."),
        ("Ready on port 30000.", "ready", "On port 30000."),
        ("Loading weights: 3 of 8 ranks done.", "starting", "Loading weights: 3 of 8 ranks done."),
        ("Serving on port 1, but a rank is lost.", "degraded", "Serving on port 1, but a rank is lost."),
        ("Failed: ", "failed", "Failed: "),
    ],
)
def test_the_word_of_the_state_is_not_said_twice(sentence: str, state: str, shown: str):
    assert without_state(sentence, state) == shown


def test_a_number_has_its_noun():
    assert [count(1, "line"), count(1234, "line"), count(3, "process", "processes")] == [
        "1 line",
        "1,234 lines",
        "3 processes",
    ]


def test_a_text_is_cut_between_words() -> None:
    assert whole_words("one two three", 13) == "one two three"
    assert whole_words("one two three", 12) == "one two …"
    assert whole_words("onetwothree", 6) == "onetw …"


def test_of_last_words_the_last_line_counts() -> None:
    assert last_line("usage: x [--a] / x: error: expected one argument") == "x: error: expected one argument"
    assert last_line("alone") == "alone"
    assert last_line("") == ""
