"""Marked stretches in words."""

from app.i18n import tr
from engine.core.events import SpanMarked
from engine.core.types import SpanKind


def describe_span(span: SpanMarked, sample_rate: int) -> str:
    """Return what a marked stretch is, for people."""
    length = f"{(span.end - span.start) / sample_rate:.1f}"
    match span.kind:
        case SpanKind.GAP if span.reason:
            return tr("{length} s of sound lost: {reason}", length=length, reason=span.reason)
        case SpanKind.GAP:
            return tr("{length} s of sound lost", length=length)
        case SpanKind.UNTRANSCRIBED if span.reason:
            return tr("{length} s not transcribed: {reason}", length=length, reason=span.reason)
        case SpanKind.UNTRANSCRIBED:
            return tr("{length} s not transcribed", length=length)
        case SpanKind.OWN_VOICE:
            return tr("{length} s of this program's own voice", length=length)
        case SpanKind.PAUSE:
            return tr("Recording paused here")
