"""What files of recordings are called."""

import pytest

from app.exports import file_name

pytestmark = pytest.mark.unit

WHEN = "2026-11-30T12:03:23+01:00"


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Stand-up", "Stand-up"),
        ("", "2026-11-30 12.03"),
        ('AC/DC: "live" <1|2>?*\\', "AC-DC- -live- -1-2"),
        (".hidden. ", "hidden"),
        ("..", "2026-11-30 12.03"),
        ("v1.2", "v1.2"),
        ("con", "_con"),
        ("COM1.notes", "_COM1.notes"),
        ("Conference", "Conference"),
        ("é" * 90, "é" * 80),
        ("x" * 79 + " and more", "x" * 79),
    ],
)
def test_name_when_made_from_a_title_then_file_systems_take_it(title: str, name: str) -> None:
    assert file_name(title, WHEN) == name


def test_name_when_letters_take_many_bytes_then_it_leaves_room_for_a_suffix() -> None:
    name = file_name("𝄞" * 80, WHEN)
    assert set(name) == {"𝄞"}
    assert len(name.encode()) <= 200


def test_name_when_the_date_is_damaged_then_there_still_is_one() -> None:
    assert file_name("", "yesterday") == "transcript"
