"""How captions look and where they stand: a small file beside the window's layout."""

import logging
import os
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import tomli_w

from app.theme import Theme
from engine.core.files import read_small

logger = logging.getLogger(__name__)
CAPTIONS_NAME = "captions.toml"
MIN_LINES, MAX_LINES = 1, 8
MIN_SIZE_PT, USUAL_SIZE_PT, MAX_SIZE_PT = 24, 56, 160
MIN_WIDTH_PERCENT, MAX_WIDTH_PERCENT = 40, 100
FOLLOW_THEME = "theme"
_MAX_PIXELS = 100_000

_Lines = Annotated[int, msgspec.Meta(ge=MIN_LINES, le=MAX_LINES)]
_Size = Annotated[int, msgspec.Meta(ge=MIN_SIZE_PT, le=MAX_SIZE_PT)]
_Width = Annotated[int, msgspec.Meta(ge=MIN_WIDTH_PERCENT, le=MAX_WIDTH_PERCENT)]
_Pixels = Annotated[int, msgspec.Meta(ge=-_MAX_PIXELS, le=_MAX_PIXELS)]
Place = Literal["left", "middle", "right"]
"""Where the column of words stands."""


@dataclass(frozen=True, slots=True)
class Scheme:
    """The colours of captions, "#RRGGBB".

    Args:
        ground: behind everything.
        text: committed words.
        partial: words that may still change.
        quiet: the line that tells how things are.
        speakers: as in `Theme`.
    """

    ground: str
    text: str
    partial: str
    quiet: str
    speakers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Tones:
    ground: str
    text: str
    partial: str
    speakers_of: str


_TONES = {
    "white-on-black": _Tones("#000000", "#FFFFFF", "#9C9C9C", "dark"),
    "black-on-white": _Tones("#FFFFFF", "#000000", "#6A6A6A", "light"),
    "yellow-on-black": _Tones("#000000", "#FFE500", "#A89A2E", "dark"),
    "green-on-black": _Tones("#000000", "#3DFF6E", "#35A556", "dark"),
    "cyan-on-black": _Tones("#000000", "#5FF4FF", "#3E9DA6", "dark"),
    "yellow-on-blue": _Tones("#00004A", "#FFF04D", "#A9A46E", "dark"),
    "black-on-cream": _Tones("#FFF6DF", "#14110A", "#6B6350", "light"),
}
SCHEMES = (FOLLOW_THEME, *_TONES)
"""Names of all schemes; the first follows the window's theme."""


def caption_scheme(name: str, theme: Theme, themes: Mapping[str, Theme]) -> Scheme:
    """Return a scheme by name.

    Args:
        name: of `SCHEMES`.
        theme: in force in the window.
        themes: all of them, see `load_themes`; speakers have the colours they have there.
    """
    tones = _TONES.get(name)
    if tones is None:
        return Scheme(theme.ground, theme.text, theme.partial, theme.muted, theme.speakers)
    speakers = themes[tones.speakers_of].speakers
    return Scheme(tones.ground, tones.text, tones.partial, tones.partial, speakers)


@dataclass(frozen=True, slots=True)
class SmallPlace:
    """Where the small window stands on the desktop, in device-independent pixels."""

    x: _Pixels
    y: _Pixels
    width: Annotated[int, msgspec.Meta(ge=1, le=_MAX_PIXELS)]
    height: Annotated[int, msgspec.Meta(ge=1, le=_MAX_PIXELS)]


@dataclass(frozen=True, slots=True)
class CaptionsLook:
    """What the user chose.

    Args:
        num_lines: shown at once on the full screen.
        size_pt: of the words on the full screen.
        small_num_lines: shown at once in the small window.
        small_size_pt: of the words in the small window.
        family: of the font; "" for the window's own.
        scheme: of `SCHEMES`.
        shows_names: whether speakers whom the user named are shown by name.
        width_percent: of the room that words may fill.
        place: where the column of words stands in that room.
        small: where the small window was left; none before it was ever open.
    """

    num_lines: _Lines = 4
    size_pt: _Size = USUAL_SIZE_PT
    small_num_lines: _Lines = 2
    small_size_pt: _Size = 28
    family: str = ""
    scheme: Literal[SCHEMES] = "white-on-black"  # type: ignore[valid-type]
    shows_names: bool = True
    width_percent: _Width = 90
    place: Place = "middle"
    small: SmallPlace | None = field(default=None)


class CaptionsFile:
    """Keeps the look on disk. Nothing hangs on it: what cannot be read is as usual.

    Thread: main.

    Args:
        folder: holds the file, and the saved phrases; made when it is needed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._path = folder / CAPTIONS_NAME
        self.look = self._kept = self._read()

    def change(self, **values: Any) -> None:
        """Change fields of the look; `save` brings them to disk."""
        self.look = replace(self.look, **values)

    def save(self) -> None:
        """Write what has changed; a look that cannot be written lasts until the program ends."""
        if self.look == self._kept:
            return
        self._kept = self.look
        values = {name: value for name, value in asdict(self.look).items() if value is not None}
        try:
            write_whole(self._path, tomli_w.dumps(values))
        except OSError as error:
            logger.info("the look of captions is not kept: %s", error)

    def _read(self) -> CaptionsLook:
        try:
            table = tomllib.loads(read_small(self._path).decode("utf-8"))
        except FileNotFoundError:
            return CaptionsLook()
        except (OSError, ValueError, RecursionError) as error:
            logger.info("the look of captions is the usual one: %s", error)
            return CaptionsLook()
        values = {}
        # One bad value costs that value alone.
        for each in fields(CaptionsLook):
            try:
                part = msgspec.convert({each.name: table[each.name]}, CaptionsLook)
            except (KeyError, msgspec.ValidationError) as error:
                logger.info("captions: %s is as usual: %s", each.name, error)
                continue
            values[each.name] = getattr(part, each.name)
        return CaptionsLook(**values)


def write_whole(path: Path, text: str) -> None:
    """Replace a file by a text; what was there stays if that fails.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8"))
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
