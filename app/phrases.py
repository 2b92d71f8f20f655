"""Saved phrases: texts a person speaks often, kept in a file that is never thrown away."""

import logging
import tomllib
from collections.abc import Sequence
from pathlib import Path

import tomli_w

from app.captions import write_whole
from app.i18n import tr
from engine.core.errors import reason_of
from engine.core.files import read_small

logger = logging.getLogger(__name__)
PHRASES_NAME = "phrases.toml"
_KEY = "phrases"


class PhraseBook:
    """A list of phrases in the user's order; every change is on disk at once. Thread: main.

    A file that cannot be understood is put aside under another name, with what of it could be
    understood taken over.

    Args:
        folder: holds the file; made when it is needed.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / PHRASES_NAME
        self._phrases: list[str] = []
        self.problem = ""
        """What the user should know of the file; empty if all is well."""
        self._is_writable = True
        self._read()

    @property
    def phrases(self) -> Sequence[str]:
        """From first to last."""
        return tuple(self._phrases)

    def add(self, text: str) -> int | None:
        """Append a phrase and return its index; one that is there already is found, not doubled.

        Args:
            text: newlines and other control characters become blanks; None is returned for an
                empty one.
        """
        text = clean(text)
        if not text:
            return None
        if text in self._phrases:
            return self._phrases.index(text)
        self._phrases.append(text)
        self._write()
        return len(self._phrases) - 1

    def change(self, index: int, text: str) -> bool:
        """Give a phrase another text; returns False for an empty one."""
        text = clean(text)
        if not text:
            return False
        if text != self._phrases[index]:
            self._phrases[index] = text
            self._write()
        return True

    def remove(self, index: int) -> str:
        """Take a phrase out and return it."""
        text = self._phrases.pop(index)
        self._write()
        return text

    def move(self, index: int, to: int) -> int:
        """Put a phrase elsewhere and return where it is now."""
        to = min(max(to, 0), len(self._phrases) - 1)
        if to != index:
            self._phrases.insert(to, self._phrases.pop(index))
            self._write()
        return to

    def _read(self) -> None:
        try:
            data = read_small(self._path)
        except FileNotFoundError:
            return
        except (OSError, ValueError) as error:
            # It may be readable again tomorrow, so nothing may be written over it today.
            self._is_writable = False
            self.problem = tr(
                "The saved phrases cannot be read: {reason}. Phrases added now last until the "
                "program ends. Check {path}.",
                reason=reason_of(error),
                path=self._path,
            )
            return
        self._phrases, is_whole = _parse(data)
        if not is_whole:
            self._put_aside()

    def _put_aside(self) -> None:
        number = 1
        while (aside := self._path.with_name(f"{PHRASES_NAME}.broken-{number}")).exists():
            number += 1
        try:
            self._path.rename(aside)
        except OSError as error:
            self._is_writable = False
            self.problem = tr(
                "The file of saved phrases is damaged and cannot be put aside: {reason}. Phrases "
                "added now last until the program ends. Mend {path}.",
                reason=reason_of(error),
                path=self._path,
            )
            return
        self.problem = tr(
            "The file of saved phrases is damaged. Phrases that could be read: {number}. It is "
            "kept whole as {path}: copy from it what is missing.",
            number=len(self._phrases),
            path=aside,
        )
        if self._phrases:
            self._write()

    def _write(self) -> None:
        if not self._is_writable:
            return
        try:
            write_whole(self._path, tomli_w.dumps({_KEY: self._phrases}))
        except OSError as error:
            logger.info("the phrases are not kept: %s", error)
            self.problem = tr(
                "The phrases cannot be saved: {reason}. They last until the program ends. Check "
                "the permissions of {path}.",
                reason=reason_of(error),
                path=self._path.parent,
            )


def clean(text: str) -> str:
    """Return a text as one line that every file can hold, without outer blanks."""
    text = text.encode("utf-8", "replace").decode()
    is_blank = {"\x7f", "\x85", "\u2028", "\u2029"}
    return "".join(" " if char < " " or char in is_blank else char for char in text).strip()


def _parse(data: bytes) -> tuple[list[str], bool]:
    """Return the phrases of a file's content, and whether that is all there was in it."""
    try:
        table = tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return [], False
    found = table.get(_KEY)
    if not isinstance(found, list):
        return [], False
    phrases = [clean(each) for each in found if isinstance(each, str)]
    phrases = [phrase for phrase in phrases if phrase]
    return phrases, len(phrases) == len(found) and set(table) == {_KEY}
