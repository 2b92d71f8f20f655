"""Colours that everybody can tell apart and read."""

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from app.theme import Theme, load_themes
from engine.core.types import MAX_SPEAKERS

pytestmark = pytest.mark.unit

MIN_CONTRAST = 4.5
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


def test_every_speaker_has_a_color_of_enough_contrast(theme: Theme) -> None:
    assert len(theme.speakers) == MAX_SPEAKERS
    assert min(_contrast(color, theme.ground) for color in theme.speakers) >= MIN_CONTRAST


@pytest.mark.parametrize("vision", VISIONS)
def test_speakers_differ_for_every_kind_of_eye(theme: Theme, vision: str) -> None:
    seen = [_oklab(VISIONS[vision] @ _linear(color)) for color in theme.speakers]
    nearest = min(float(np.linalg.norm(a - b)) for a, b in combinations(seen, 2))
    assert nearest >= MIN_DISTANCE


@pytest.mark.parametrize(
    ("text", "ground"),
    [
        ("text", "ground"),
        ("text", "panel"),
        ("text", "raised"),
        ("text", "hover"),
        ("text", "selection"),
        ("text", "warning_ground"),
        ("text", "error_ground"),
        ("muted", "ground"),
        ("muted", "panel"),
        ("muted", "selection"),
        ("partial", "ground"),
        ("warning", "ground"),
        ("warning", "panel"),
        ("on_focus", "focus"),
        ("on_focus", "focus_hover"),
        ("on_record", "record"),
    ],
)
def test_text_can_be_read_on_every_ground(theme: Theme, text: str, ground: str) -> None:
    assert _contrast(getattr(theme, text), getattr(theme, ground)) >= MIN_CONTRAST
