"""What the window remembers of its arrangement."""

from pathlib import Path

import pytest

from app.layout import LAYOUT_NAME, Layout, LayoutFile


def test_layout_when_changed_then_the_next_start_has_it(tmp_path: Path) -> None:
    LayoutFile(tmp_path / "new").change(shows_delays=True)
    assert LayoutFile(tmp_path / "new").layout == Layout(shows_delays=True)


@pytest.mark.parametrize("text", ["shows_delays = ", 'shows_delays = "perhaps"', "\x00"])
def test_layout_when_the_file_is_damaged_then_it_is_the_usual_one(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / LAYOUT_NAME).write_text(text)
    assert LayoutFile(tmp_path).layout == Layout()


def test_layout_when_it_cannot_be_written_then_it_holds_until_the_end(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    layout_file = LayoutFile(tmp_path / "file")
    layout_file.change(shows_delays=True)
    assert layout_file.layout.shows_delays


def test_layout_when_a_folder_has_no_text_for_a_name_then_the_rest_stays_on_disk(
    tmp_path: Path,
) -> None:
    layout_file = LayoutFile(tmp_path)
    layout_file.change(shows_delays=True)
    layout_file.change(saving_folder="/home/\udcff")
    assert LayoutFile(tmp_path).layout == Layout(shows_delays=True)
