"""How captions look: kept on disk, and readable in every scheme."""

from pathlib import Path

import numpy as np
import pytest

from app.captions import (
    CAPTIONS_NAME,
    FOLLOW_THEME,
    SCHEMES,
    CaptionsFile,
    CaptionsLook,
    Scheme,
    SmallPlace,
    caption_scheme,
    write_whole,
)
from app.theme import load_themes

MIN_TEXT_CONTRAST = 7.0
MIN_PARTIAL_CONTRAST = 4.5
MIN_STEP = 1.5
"""From committed words to partial ones, so that they are told apart."""


def _luminance(color: str) -> float:
    values = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    return float(np.array([0.2126, 0.7152, 0.0722]) @ linear)


def _contrast(one: str, other: str) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.fixture(params=[(name, theme) for name in SCHEMES for theme in ("light", "dark")])
def scheme(request: pytest.FixtureRequest) -> Scheme:
    name, theme = request.param
    themes = load_themes()
    return caption_scheme(name, themes[theme], themes)


def test_committed_words_can_be_read_in_every_scheme(scheme: Scheme) -> None:
    assert _contrast(scheme.text, scheme.ground) >= MIN_TEXT_CONTRAST


def test_partial_words_are_lighter_and_can_be_read_in_every_scheme(scheme: Scheme) -> None:
    assert _contrast(scheme.partial, scheme.ground) >= MIN_PARTIAL_CONTRAST
    assert _contrast(scheme.quiet, scheme.ground) >= MIN_PARTIAL_CONTRAST
    assert _contrast(scheme.partial, scheme.text) >= MIN_STEP


def test_speakers_can_be_read_in_every_scheme(scheme: Scheme) -> None:
    worst = min(_contrast(color, scheme.ground) for color in scheme.speakers)
    assert worst >= MIN_PARTIAL_CONTRAST


def test_scheme_when_it_follows_the_theme_then_it_changes_with_it() -> None:
    themes = load_themes()
    light, dark = (caption_scheme(FOLLOW_THEME, themes[name], themes) for name in themes)
    assert (light.ground, dark.ground) == (themes["light"].ground, themes["dark"].ground)


def test_look_when_saved_then_the_next_start_has_it(tmp_path: Path) -> None:
    captions_file = CaptionsFile(tmp_path / "new")
    values = {
        "num_lines": 8,
        "size_pt": 160,
        "family": "Владимир 🦊",
        "scheme": "yellow-on-blue",
        "shows_names": False,
        "place": "right",
        "small": SmallPlace(-40, 20, 600, 150),
    }
    captions_file.change(**values)
    captions_file.save()
    look = CaptionsFile(tmp_path / "new").look
    assert {name: getattr(look, name) for name in values} == values


def test_look_when_not_saved_then_the_disk_is_left_alone(tmp_path: Path) -> None:
    captions_file = CaptionsFile(tmp_path)
    captions_file.save()
    assert not list(tmp_path.iterdir())
    captions_file.change(num_lines=1)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("data", [b"num_lines = ", b"\x00\xff", b"", b"[small]\n"])
def test_look_when_the_file_is_damaged_then_it_is_the_usual_one(
    tmp_path: Path, data: bytes
) -> None:
    (tmp_path / CAPTIONS_NAME).write_bytes(data)
    assert CaptionsFile(tmp_path).look == CaptionsLook()


@pytest.mark.parametrize(
    "line",
    [
        "num_lines = 9",
        "num_lines = 0",
        'num_lines = "four"',
        "size_pt = 23",
        "size_pt = 1e300",
        'scheme = "pink-on-pink"',
        'place = "upstairs"',
        "width_percent = 5",
        "shows_names = 3",
        "small = { x = 0, y = 0, width = 0, height = 10 }",
        "small = { x = 0, y = 99999999999, width = 10, height = 10 }",
        'small = "here"',
        "unknown = 1",
    ],
)
def test_look_when_one_value_is_wrong_then_the_others_hold(tmp_path: Path, line: str) -> None:
    (tmp_path / CAPTIONS_NAME).write_text(f'family = "Nimbus Sans"\n{line}\n')
    assert CaptionsFile(tmp_path).look == CaptionsLook(family="Nimbus Sans")


def test_look_when_it_cannot_be_written_then_it_holds_until_the_end(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    captions_file = CaptionsFile(tmp_path / "file")
    captions_file.change(num_lines=1)
    captions_file.save()
    assert captions_file.look.num_lines == 1


def test_write_when_it_fails_then_what_was_there_stays(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(OSError, match="directory"):
        write_whole(folder, "text")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
