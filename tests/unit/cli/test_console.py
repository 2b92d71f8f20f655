import io

import pytest

from engine.cli.console import Console, clip_left, width


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class BrokenPipe(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_line_when_a_tail_is_shown_then_takes_its_place():
    out = Terminal()
    console = Console(out, io.StringIO(), lambda: 80, has_colour=False)
    console.tail("head ", "text", " more")
    console.line("whole")
    assert out.getvalue() == "head text more\r\x1b[2Kwhole\n"


def test_note_when_a_tail_is_shown_then_clears_it_first_and_is_one_line():
    out, err = Terminal(), Terminal()
    console = Console(out, err, lambda: 80, has_colour=False)
    console.tail("", "text", "")
    console.note("two\nlines")
    assert out.getvalue().endswith("\r\x1b[2K")
    assert err.getvalue() == "vivavoce: two lines\n"


def test_status_when_messages_go_to_a_file_then_is_left_out():
    err = io.StringIO()
    Console(io.StringIO(), err).status("50%")
    assert err.getvalue() == ""


def test_line_when_the_reader_has_gone_then_is_dropped_and_told():
    console = Console(BrokenPipe(), io.StringIO())
    console.line("one")
    assert console.is_closed
    console.line("two")


def test_partial_when_colours_are_seen_then_is_dim():
    out = Terminal()
    Console(out, io.StringIO(), lambda: 80).tail("", "sure", " maybe")
    assert out.getvalue() == "sure\x1b[2m maybe\x1b[0m"


def test_speaker_when_no_colours_are_seen_then_is_plain():
    assert Console(io.StringIO(), io.StringIO()).speaker("A", 0) == "A"
    assert "\x1b[" in Console(Terminal(), io.StringIO()).speaker("A", 0)


@pytest.mark.parametrize(
    ("text", "room", "shown"),
    [("short", 8, "short"), ("one two three", 6, "…three"), ("語語語", 5, "…語語"), ("", 3, "")],
)
def test_clip_left_when_text_is_long_then_its_end_fits(text, room, shown):
    assert clip_left(text, room) == shown
    assert width(shown) <= room


def test_width_when_text_has_colours_and_accents_then_they_take_no_column():
    assert width("\x1b[1;36mA\x1b[0m") == 1
    assert width("e\u0301") == 1
