import io
import re

import numpy as np
import pytest

from engine.cli.console import Console
from engine.cli.printer import LinePrinter
from engine.core.events import (
    ActivityRevised,
    BackendChanged,
    BackendState,
    FinalWords,
    PartialWords,
    RecordingStarted,
    RecordingStopped,
)
from engine.core.types import BackendKind, Word

RATE = 16_000


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Bench:
    """A printer and what it has printed."""

    def __init__(self, *, has_speakers: bool = True, is_terminal: bool = False) -> None:
        self.out = Terminal() if is_terminal else io.StringIO()
        console = Console(self.out, io.StringIO(), lambda: 40, has_colour=False)
        self.printer = LinePrinter(console, has_speakers=has_speakers)
        self.printer.take(RecordingStarted("r", RATE, "2026-01-01T00:00:00+00:00", "x", False))

    @property
    def lines(self) -> list[str]:
        return self.out.getvalue().splitlines()

    @property
    def printed_words(self) -> list[str]:
        return " ".join(re.sub(r"^\[.*\]( [AB?] )? ", "", line) for line in self.lines).split()

    def say(self, text: str, at_s: float, word_s: float = 0.5) -> None:
        self.printer.take(FinalWords(words(text, at_s, word_s)))

    def hear(self, until_s: float, partial: str = "") -> None:
        shown = words(partial, until_s - 0.5) if partial else ()
        self.printer.take(PartialWords(shown, round(until_s * RATE)))

    def activity(self, slots: list[int], *, first: int = 0, final_until: int | None = None) -> None:
        """Rows of one second, the speaker of each second."""
        rows = np.zeros((len(slots), 2), np.float32)
        for row, slot in enumerate(slots):
            rows[row, slot] = 0.9
        until = first + len(slots) if final_until is None else final_until
        self.printer.take(ActivityRevised(first, 1000, rows, until))

    def stop(self, at_s: float = 60.0) -> None:
        self.printer.take(RecordingStopped("r", round(at_s * RATE)))


def words(text: str, at_s: float, word_s: float = 0.5) -> tuple[Word, ...]:
    starts = [round((at_s + i * word_s) * RATE) for i in range(len(text.split()))]
    return tuple(
        Word(f" {word}", start, start + round(0.9 * word_s * RATE))
        for word, start in zip(text.split(), starts, strict=True)
    )


def test_line_when_a_later_speaker_has_begun_then_printed_whole_with_time_and_letter():
    bench = Bench()
    bench.activity([0, 0, 0, 0, 1, 1])
    bench.say("one two three four", 2)
    assert bench.lines == []
    bench.say("five six", 4)
    assert bench.lines == ["[00:00:02] A  one two three four"]


def test_line_when_a_pause_was_heard_then_printed():
    bench = Bench(has_speakers=False)
    bench.say("one two", 1)
    bench.hear(3.5)
    assert bench.lines == []
    bench.hear(4.5)
    assert bench.lines == ["[00:00:01]  one two"]


def test_line_when_partial_words_wait_then_not_finished_by_a_pause():
    bench = Bench(has_speakers=False)
    bench.say("one", 1)
    bench.hear(9, partial="two")
    assert bench.lines == []


def test_line_when_its_speakers_are_tentative_then_waits_until_they_are_final():
    bench = Bench()
    bench.activity([0, 0, 0, 0, 0, 0], final_until=1)
    bench.say("one two", 1)
    bench.hear(6)
    assert bench.lines == []
    # The first guess was wrong, and the printed line has the last word.
    bench.activity([1, 1, 1, 1], final_until=4)
    assert bench.lines == ["[00:00:01] B  one two"]


def test_line_when_speakers_never_become_final_then_the_wait_is_bounded():
    bench = Bench()
    bench.say("one two", 1)
    bench.hear(4.5)
    bench.printer.tick(4.5)
    assert bench.lines == []
    bench.printer.tick(5.5)
    assert bench.lines == ["[00:00:01] ?  one two"]


def test_line_when_the_diarizer_fails_then_nothing_waits_for_it():
    bench = Bench()
    bench.say("one two", 1)
    bench.hear(5)
    bench.printer.take(BackendChanged(BackendKind.DIARIZER, "x", BackendState.FAILED))
    bench.hear(5.1)
    assert bench.lines == ["[00:00:01]  one two"]


def test_stop_when_words_are_open_then_prints_them():
    bench = Bench()
    bench.say("the last word", 50)
    bench.stop()
    assert bench.lines == ["[00:00:50] ?  the last word"]


def test_late_words_when_their_line_is_printed_then_printed_alone_with_their_time():
    bench = Bench(has_speakers=False)
    bench.say("one", 1)
    bench.say("nine", 9)
    bench.hear(15)
    bench.say("five", 5)
    bench.hear(15)
    bench.stop()
    assert bench.lines == ["[00:00:01]  one", "[00:00:09]  nine", "[00:00:05]  five"]


def test_speaker_when_revised_after_printing_then_no_word_is_printed_twice():
    bench = Bench()
    bench.activity([0, 0, 0, 0, 0, 0])
    bench.say("one two", 1)
    bench.hear(5)
    bench.say("three four", 2.5)
    bench.activity([0, 0, 0, 0, 1, 1, 1, 1])
    bench.activity([1, 1, 1, 1, 1, 1, 1, 1])
    bench.stop()
    assert bench.printed_words == ["one", "two", "three", "four"]


@pytest.mark.parametrize("has_speakers", [True, False])
def test_every_word_when_events_come_in_any_chunks_then_printed_once(has_speakers):
    bench = Bench(has_speakers=has_speakers)
    spoken = [f"w{i}" for i in range(200)]
    for i, word in enumerate(spoken):
        bench.say(word, i * 0.7 + (i // 17) * 2.5)
        if i % 3 == 0:
            first = max(0, i // 2 - 4)
            bench.activity([(s // 11) % 2 for s in range(first, first + 6)], first=first)
        bench.hear(i * 0.7 + (i // 17) * 2.5 + 0.6)
    bench.stop()
    assert bench.printed_words == spoken


def test_tail_when_on_a_terminal_then_shows_open_and_partial_words_in_place():
    bench = Bench(has_speakers=False, is_terminal=True)
    bench.say("one two", 1)
    bench.hear(2.5, partial="three")
    assert bench.out.getvalue().endswith("\r\x1b[2K[00:00:01]  one two three")
    bench.stop()
    assert bench.out.getvalue().endswith("\r\x1b[2K[00:00:01]  one two\n")


def test_tail_when_longer_than_the_terminal_then_its_end_is_shown():
    bench = Bench(has_speakers=False, is_terminal=True)
    bench.say("one two three four five six seven eight nine", 1)
    shown = bench.out.getvalue()
    assert len(shown) == 39
    assert shown.endswith("seven eight nine")
    assert shown.startswith("[00:00:01]  …")


def test_tail_when_not_on_a_terminal_then_only_whole_lines_are_written():
    bench = Bench(has_speakers=False)
    bench.say("one", 1)
    bench.hear(2, partial="two")
    assert bench.out.getvalue() == ""
