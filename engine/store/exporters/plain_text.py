"""Plain text: a line for each turn, with what was lost in its place."""

from engine.core.timebase import format_time
from engine.core.types import SpanKind
from engine.store.exporters.options import UNTRAINED_NOTE, ExportOptions, one_line
from engine.text.document import TranscriptDocument

_LOST = {SpanKind.GAP: "audio lost", SpanKind.UNTRANSCRIBED: "not transcribed"}


def render(document: TranscriptDocument, options: ExportOptions) -> str:
    """Return the transcript as text for people."""
    entries: list[tuple[int, str]] = []
    for line in document.lines:
        text = one_line(document.line_text(line))
        if not text:
            continue
        if options.with_speakers and line.speaker is not None:
            text = f"{one_line(document.speaker_name(line.speaker))}: {text}"
        entries.append((document.line_start(line), text))
    for span in document.spans:
        if span.kind in _LOST:
            length_s = document.seconds(span.end - span.start)
            entries.append((span.start, f"[{_LOST[span.kind]}: {length_s:.1f} s]"))
    lines = [] if document.is_trained else [UNTRAINED_NOTE]
    for start, text in sorted(entries, key=lambda entry: entry[0]):
        time = f"[{format_time(document.seconds(start))}] " if options.with_times else ""
        lines.append(time + text)
    return "".join(f"{line}\n" for line in lines)
