"""What the transcript says about the word or mark under the pointer."""

from html import escape

from PySide6.QtCore import QPoint
from PySide6.QtGui import QFontMetrics

from app.i18n import tr
from app.names import shown_name
from app.views.transcript.layout import DOUBTFUL, LaidOutRow
from app.views.transcript.metrics import Metrics
from app.views.transcript.painter import header_text, pin_rect
from app.views.transcript.rows import Row
from app.views.transcript.spans import describe_span
from engine.text.document import DocumentWord, TranscriptDocument


def tip_at(
    document: TranscriptDocument,
    row: Row,
    laid_out: LaidOutRow | None,
    metrics: Metrics,
    point: QPoint,
) -> str:
    """Return a tip as plain text; empty where there is nothing to tell.

    Args:
        document: what is shown.
        row: the row under the pointer.
        laid_out: its words; None for a marked stretch.
        metrics: sizes.
        point: of the pointer, relative to the row.
    """
    if row.span is not None:
        return describe_span(row.span, document.sample_rate)
    if laid_out is None:
        return ""
    y = point.y() - laid_out.top
    if y < 0:
        name = header_text(row, document)
        is_cut = QFontMetrics(metrics.name_font).horizontalAdvance(name) > metrics.name_width
        return name if is_cut and row.has_header else ""
    is_locked = any(entry.is_locked for entry in row.words)
    if is_locked and pin_rect(metrics, laid_out).adjusted(-4, -4, 4, 4).contains(point.x(), y):
        return _lock_tip(document, row)
    word = laid_out.word_at(point.x() - metrics.text_left, y)
    if word is None or word >= len(row.words):
        return ""
    if row.words[word].is_gone:
        return tr("Removed here: {heard}", heard=_gone_around(row, word))
    return _word_tip(row.words[word])


def as_rich_text(tip: str) -> str:
    """Return a tip as Qt shows it: wrapped, and with no sign in it taken for markup."""
    return f"<qt>{escape(tip)}</qt>" if tip else ""


def _lock_tip(document: TranscriptDocument, row: Row) -> str:
    if row.speaker is None:
        return tr("You said who speaks here.")
    name = shown_name(document, row.speaker)
    return tr("You said that {name} speaks here.", name=name)


def _gone_around(row: Row, word: int) -> str:
    """Return all that was heard at a place from which words were removed."""
    first = end = word
    while first > 0 and row.words[first - 1].is_gone:
        first -= 1
    while end < len(row.words) and row.words[end].is_gone:
        end += 1
    return "".join(entry.heard or "" for entry in row.words[first:end]).strip()


def _word_tip(entry: DocumentWord) -> str:
    if entry.is_edited:
        heard = (entry.heard or "").strip()
        return tr("What was heard: {heard}", heard=heard) if heard else tr("You added this word.")
    if entry.word.probability < DOUBTFUL:
        percent = round(100 * max(0.0, entry.word.probability))
        return tr("Doubtful: the recognizer is {percent} % sure of this word.", percent=percent)
    return ""
