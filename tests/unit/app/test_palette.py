"""Colours that everybody can tell apart and read."""

import re
from dataclasses import fields
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from app.theme import Theme, load_themes
from engine.core.resources import resource_path
from engine.core.types import MAX_SPEAKERS

pytestmark = pytest.mark.unit

MIN_CONTRAST = 4.5
"""WCAG 2.2 AA, 1.4.3."""
MIN_MARK_CONTRAST = 3.0
"""WCAG 2.2 AA, 1.4.11."""
MIN_DISTANCE = 0.08

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
VISIONS = {
    "normal": np.eye(3),
    "protan": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deutan": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritan": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
# Ottosson (2020), linear sRGB to LMS and LMS' to OKLab.
_TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def _linear(color: str) -> NDArray[np.float64]:
    values = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def _oklab(linear: NDArray[np.float64]) -> NDArray[np.float64]:
    return _TO_LAB @ np.cbrt(_TO_LMS @ np.clip(linear, 0, 1))


def _contrast(one: str, other: str) -> float:
    weights = np.array([0.2126, 0.7152, 0.0722])
    low, high = sorted((float(weights @ _linear(one)), float(weights @ _linear(other))))
    return (high + 0.05) / (low + 0.05)


@pytest.fixture(params=["light", "dark"])
def theme(request: pytest.FixtureRequest) -> Theme:
    return load_themes()[request.param]


def test_every_speaker_has_a_color(theme: Theme) -> None:
    assert len(theme.speakers) == MAX_SPEAKERS


@pytest.mark.parametrize("ground", ["ground", "panel", "selection"])
def test_names_of_speakers_can_be_read_where_they_stand(theme: Theme, ground: str) -> None:
    worst = min(_contrast(color, getattr(theme, ground)) for color in theme.speakers)
    assert worst >= MIN_CONTRAST


@pytest.mark.parametrize("ground", ["hit", "hit_current", "playing_ground"])
def test_marks_of_speakers_are_seen_under_lit_words(theme: Theme, ground: str) -> None:
    worst = min(_contrast(color, getattr(theme, ground)) for color in theme.speakers)
    assert worst >= MIN_MARK_CONTRAST


@pytest.mark.parametrize("vision", VISIONS)
def test_speakers_differ_for_every_kind_of_eye(theme: Theme, vision: str) -> None:
    seen = [_oklab(VISIONS[vision] @ _linear(color)) for color in theme.speakers]
    nearest = min(float(np.linalg.norm(a - b)) for a, b in combinations(seen, 2))
    assert nearest >= MIN_DISTANCE


TEXTS = {
    "text": (
        "ground panel raised hover pressed selection warning_ground error_ground "
        "hit hit_current playing_ground"
    ),
    "muted": "ground panel raised hover selection warning_ground error_ground",
    "partial": "ground selection hit",
    "warning": "ground panel raised selection",
    "focus": "ground panel",
    "on_focus": "focus focus_hover",
    "on_record": "record",
}
"""What words are written with, and on what."""
MARKS = {
    "focus": "ground panel raised hover selection warning_ground error_ground",
    "text": "panel line",
    "edge": "ground panel raised",
    "scroll": "ground panel",
    "record": "panel raised",
    "warning": "ground panel line",
    "good": "panel line",
    "hit_mark": "ground panel",
    "playing": "ground panel selection",
    "overlap": "ground panel selection",
}
"""Lines, icons and rings that say something, and what is around them."""
# Not here, as they say nothing alone: `line` between areas, `faint` on what cannot be used.


def _pairs(table: dict[str, str]) -> list[tuple[str, str]]:
    return [(name, ground) for name, grounds in table.items() for ground in grounds.split()]


@pytest.mark.parametrize(("text", "ground"), _pairs(TEXTS))
def test_text_can_be_read_on_every_ground(theme: Theme, text: str, ground: str) -> None:
    assert _contrast(getattr(theme, text), getattr(theme, ground)) >= MIN_CONTRAST


@pytest.mark.parametrize(("mark", "ground"), _pairs(MARKS))
def test_marks_are_seen_on_what_is_around_them(theme: Theme, mark: str, ground: str) -> None:
    assert _contrast(getattr(theme, mark), getattr(theme, ground)) >= MIN_MARK_CONTRAST


def test_every_color_of_the_palette_is_looked_at(theme: Theme) -> None:
    known = {*TEXTS, *MARKS, "speakers", "line", "faint"}
    known |= {ground for table in (TEXTS, MARKS) for _, ground in _pairs(table)}
    assert known == {field.name for field in fields(theme)}


def test_the_style_sheet_writes_only_pairs_that_are_looked_at() -> None:
    sheet = resource_path("theme/window.qss").read_text("utf-8")
    known = set(_pairs(TEXTS))
    pairs = set()
    for rule in re.findall(r"\{([^}]*)\}", sheet):
        ground = re.search(r"(?<![\w-])background: \$(\w+)", rule)
        text = re.search(r"(?<![\w-])color: \$(\w+)", rule)
        if ground and text and text[1] != "faint":
            pairs.add((text[1], ground[1]))
    assert len(pairs) >= 7
    assert pairs <= known
