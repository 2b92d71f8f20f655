"""Breaks the end of a transcript into caption rows that stay as they are once they are read.

A row that has begun with a committed word goes on beginning with that word. New words are appended
to the last row; a speaker who becomes known late, a correction, or a name that makes a row too
long puts a break in, and moves no other word.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF

from app.i18n import tr
from app.names import given_name
from app.text import one_line, utf16_length
from app.views.captions.said import Said
from app.views.captions.text import make_layout, name_font, reads_rtl
from engine.core.types import SpeakerId, Word
from engine.text.document import LINE_PAUSE_S, TranscriptDocument

_MAX_WORDS = 600
"""Words looked at where no row is known yet; more than eight rows hold."""
_HEAD_WORDS = 50
"""Words of a line that tell its direction of writing."""
_NAME_SHARE = 0.5
"""Of a row's width; a longer name is cut."""
_PARTIAL, _SAID = -1, -2
"""In place of a word's id."""
_FIRST_ISOLATE, _END_ISOLATE = "\u2068", "\u2069"
"""Keep a name's direction of writing from turning the words behind it around."""


@dataclass(frozen=True, slots=True)
class CaptionRow:
    """One row of captions.

    Args:
        key: of the word it begins with: ("word", id, n) for the n-th row from there on, ("said",
            utterance, n), or ("partial", index, n).
        text: as shown, the speaker's name included.
        name_length: characters of the name before the words, in UTF-16 units.
        partial_from: where words begin that may still change, in UTF-16 units of `text`.
        speaker: whose words they are; None if not known.
        is_start: whether the speaker begins here.
        is_own: whether it is what the program says for the user.
        is_rtl: whether it is read from right to left.
    """

    key: tuple[str, int, int]
    text: str
    name_length: int = 0
    partial_from: int = 0
    speaker: SpeakerId | None = None
    is_start: bool = False
    is_own: bool = False
    is_rtl: bool = False

    @property
    def words(self) -> str:
        """What is shown without the name."""
        data = self.text.encode("utf-16-le")
        return data[2 * self.name_length :].decode("utf-16-le")


@dataclass(slots=True)
class _Block:
    """Words that are broken into rows together."""

    kind: str
    index: int
    speaker: SpeakerId | None
    is_start: bool
    is_rtl: bool
    words: list[tuple[int, str]] = field(default_factory=list)  # (id or a mark, text)
    is_own: bool = False


class CaptionFlow:
    """Rows at the end of a document, for a font and a width. Thread: main."""

    def __init__(self) -> None:
        self._starts: set[int] = set()
        self._font = QFont()
        self._name_font = QFont()
        self._width = 100.0
        self._shows_names = True

    @property
    def num_kept(self) -> int:
        """Rows it remembers."""
        return len(self._starts)

    def set_metrics(self, font: QFont, width: float, *, shows_names: bool) -> None:
        """Break rows anew, for a font and a width in pixels."""
        self._font, self._width, self._shows_names = QFont(font), width, shows_names
        self._name_font = name_font(font)
        self.clear()

    def clear(self) -> None:
        """Forget which rows there were: another document follows."""
        self._starts.clear()

    def rows(
        self, document: TranscriptDocument, said: Sequence[Said], num_rows: int
    ) -> tuple[CaptionRow, ...]:
        """Return the last rows, the oldest first; at least `num_rows` if there are as many.

        Args:
            document: whose words are shown.
            said: what the program says for the user, in order.
            num_rows: wanted.
        """
        first = self._first_word(document, num_rows + 1)
        blocks = self._committed(document, said, first)
        self._add_partial(document, blocks)
        rows: list[CaptionRow] = []
        for block in blocks:
            rows.extend(self._break(block, document))
        starts = [row.key[1] for row in rows if row.key[0] == "word" and not row.key[2]]
        self._starts = set(starts[-(num_rows + 2) :])
        return tuple(rows)

    def _first_word(self, document: TranscriptDocument, num_rows: int) -> int:
        """Return the index of the word to begin with: a row's first, far enough back."""
        words = document.words
        index, num_found = len(words), 0
        floor = max(0, len(words) - _MAX_WORDS)
        while index > floor and num_found < num_rows:
            index -= 1
            num_found += words[index].id in self._starts
        return index

    def _committed(
        self, document: TranscriptDocument, said: Sequence[Said], first: int
    ) -> list[_Block]:
        words, lines, blocks, waiting = document.words, document.lines, list[_Block](), list(said)
        if 0 < first < len(words):
            # What was said before the first of these rows has scrolled away.
            waiting = [each for each in waiting if each.at >= words[first].word.start]
        at = bisect_right(lines, first, key=lambda line: line.end)
        while at < len(lines):
            line, before = lines[at], lines[at - 1] if at else None
            is_start = line.first >= first and (before is None or before.speaker != line.speaker)
            head = words[line.first : min(line.end, line.first + _HEAD_WORDS)]
            is_rtl = reads_rtl("".join(entry.word.text for entry in head))
            block = _Block("word", 0, line.speaker, is_start, is_rtl)
            for index in range(max(line.first, first), line.end):
                entry = words[index]
                while waiting and waiting[0].at <= entry.word.start:
                    blocks += [block, _said_block(waiting.pop(0))]
                    block = _Block("word", 0, line.speaker, True, is_rtl)
                if entry.id in self._starts and block.words:
                    blocks.append(block)
                    block = _Block("word", 0, line.speaker, False, is_rtl)
                block.words.append((entry.id, entry.word.text))
            blocks.append(block)
            at += 1
        blocks += [_said_block(each) for each in waiting]
        return [block for block in blocks if any(text.strip() for _, text in block.words)]

    def _add_partial(self, document: TranscriptDocument, blocks: list[_Block]) -> None:
        groups = zip(document.partial, document.speakers_of_partial(), strict=True)
        for index, (word, speakers) in enumerate(groups):
            speaker = speakers[0] if speakers else None
            last = blocks[-1] if blocks else None
            newest = document.words[-1:] if index == 0 else ()
            before = document.partial[index - 1] if index else next((e.word for e in newest), word)
            is_parted = document.is_parted(before.start, word.start)
            if last is not None and not is_parted and _goes_on(last, document, word, speaker):
                if last.kind == "partial":
                    last.speaker = last.speaker or speaker
                last.words.append((_PARTIAL, word.text))
                continue
            is_start = last is None or last.is_own or last.speaker != speaker
            block = _Block("partial", index, speaker, is_start, reads_rtl(word.text))
            block.words.append((_PARTIAL, word.text))
            blocks.append(block)

    def _break(self, block: _Block, document: TranscriptDocument) -> list[CaptionRow]:
        name = self._name(block, document)
        text, starts, partial_from = _join(name, block.words)
        breaks = self._wrap(text, utf16_length(name), is_rtl=block.is_rtl)
        data = text.encode("utf-16-le")
        rows, key, num_since = list[CaptionRow](), (block.kind, block.index), 0
        for number, (start, end) in enumerate(breaks):
            word_id = starts.get(start if number else utf16_length(name))
            if word_id is not None:
                key, num_since = ("word", word_id), 0
            shown = data[2 * start : 2 * end].decode("utf-16-le", "replace").rstrip()
            rows.append(
                CaptionRow(
                    (*key, num_since),
                    shown,
                    0 if number else utf16_length(name),
                    min(max(0, partial_from - start), utf16_length(shown)),
                    block.speaker,
                    block.is_start and not number,
                    block.is_own,
                    block.is_rtl,
                )
            )
            num_since += 1
        return rows

    def _name(self, block: _Block, document: TranscriptDocument) -> str:
        """Return what stands before a block's words, with the blank behind it."""
        if not block.is_start:
            return ""
        if block.is_own:
            return tr("You:") + " "
        if block.speaker is None or not self._shows_names:
            return ""
        name = given_name(document, block.speaker)
        # The badge says as much as a name that is nothing but the letter.
        if not name:
            return ""
        metrics = QFontMetricsF(self._name_font)
        room = self._width * _NAME_SHARE
        name = metrics.elidedText(name, Qt.TextElideMode.ElideRight, room)
        return f"{_FIRST_ISOLATE}{name}{_END_ISOLATE}: "

    def _wrap(self, text: str, name_length: int, *, is_rtl: bool) -> list[tuple[int, int]]:
        """Return the rows of a text as (start, end) in UTF-16 units."""
        layout = make_layout(text, self._font, name_length, is_rtl=is_rtl)
        breaks = []
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLineWidth(self._width)
            breaks.append((line.textStart(), line.textStart() + line.textLength()))
        layout.endLayout()
        return breaks


def _said_block(said: Said) -> _Block:
    text = said.shown_text
    words = [(_SAID, text)]
    return _Block("said", said.utterance_id, None, True, reads_rtl(text), words, is_own=True)


def _goes_on(
    last: _Block, document: TranscriptDocument, word: Word, speaker: SpeakerId | None
) -> bool:
    """Return whether a partial word belongs to the row before it."""
    if last.is_own or (None not in (speaker, last.speaker) and last.speaker != speaker):
        return False
    if last.kind == "partial":
        return True
    end = document.words[-1].word.end if document.words else word.start
    return word.start - end <= LINE_PAUSE_S * document.sample_rate


def _join(name: str, words: Sequence[tuple[int, str]]) -> tuple[str, dict[int, int], int]:
    """Return a block's text, the words that begin at each place of it, and where partials begin."""
    text, length = name, utf16_length(name)
    starts: dict[int, int] = {}
    partial_from = -1
    has_words = False
    for word_id, part in words:
        whole = one_line(part)
        bare = whole.lstrip()
        if has_words:
            blanks = len(whole) - len(bare)
            text += " " * blanks
            length += blanks
        if word_id == _PARTIAL and partial_from < 0:
            partial_from = length
        if word_id >= 0 and bare:
            starts.setdefault(length, word_id)
        has_words = has_words or bool(bare)
        text += bare
        length += utf16_length(bare)
    return text, starts, length if partial_from < 0 else partial_from
