"""What of the window's arrangement is remembered: a small file beside the settings."""

import logging
import tomllib
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

import msgspec
import tomli_w

from engine.core.files import read_small

logger = logging.getLogger(__name__)
LAYOUT_NAME = "window.toml"


@dataclass(frozen=True, slots=True)
class Layout:
    """An arrangement of the window.

    Args:
        shows_delays: whether the delays are plotted.
        hears_clicks: whether a clicked word of a recording is played.
        announces_lines: whether new lines are told to a screen reader.
        motion: "full" or "reduced"; "" for what the desktop prefers.
        saving_folder: where a file was saved last; "" for nowhere yet.
        listening_folder: where a sound file was chosen last; likewise.
    """

    shows_delays: bool = False
    hears_clicks: bool = True
    announces_lines: bool = False
    motion: Literal["", "full", "reduced"] = ""
    saving_folder: str = ""
    listening_folder: str = ""


class LayoutFile:
    """Keeps the layout on disk. Nothing hangs on it: what cannot be read is the usual layout.

    Thread: main.

    Args:
        folder: holds the file; made when it is needed.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / LAYOUT_NAME
        self.layout = self._read()

    def change(self, **values: bool | str) -> None:
        """Remember parts of an arrangement; one that cannot be written lasts until the end.

        Args:
            values: fields of `Layout`.
        """
        layout = replace(self.layout, **values)  # type: ignore[arg-type]
        if layout == self.layout:
            return
        self.layout = layout
        try:
            # Before the file is opened: the name of a folder need not be text.
            content = tomli_w.dumps(asdict(layout)).encode()
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_bytes(content)
        except (OSError, UnicodeError) as error:
            logger.info("the layout of the window is not kept: %s", error)

    def _read(self) -> Layout:
        try:
            return msgspec.convert(tomllib.loads(read_small(self._path).decode("utf-8")), Layout)
        except FileNotFoundError:
            return Layout()
        except (OSError, ValueError, RecursionError) as error:
            logger.info("the layout of the window is the usual one: %s", error)
            return Layout()
