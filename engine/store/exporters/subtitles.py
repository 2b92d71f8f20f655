"""SubRip and WebVTT."""

from engine.core.types import SpeakerId
from engine.store.exporters.cues import Cue, make_cues
from engine.store.exporters.options import UNTRAINED_NOTE, ExportOptions, one_line
from engine.text.document import TranscriptDocument

_UNTRAINED_MS = 1000


def render_srt(document: TranscriptDocument, options: ExportOptions) -> str:
    """Return SubRip; a speaker's first cue in a row begins with the name."""

    def prefix(speaker: SpeakerId) -> str:
        # A long name must leave room for words.
        name = one_line(document.speaker_name(speaker))[: options.max_line_chars // 2]
        return f"{name}: " if options.with_speakers else ""

    cues = make_cues(document, options, prefix)
    if not document.is_trained:
        end_ms = min([_UNTRAINED_MS, *(cue.start_ms for cue in cues if cue.start_ms > 0)])
        cues = (Cue(0, end_ms, None, (UNTRAINED_NOTE,)), *cues)
    blocks = []
    for number, cue in enumerate(cues, start=1):
        # SubRip has no escapes, and an arrow in the text reads as a time line.
        text = "\n".join(cue.lines).replace("-->", "→")
        blocks.append(
            f"{number}\n{_time(cue.start_ms, ',')} --> {_time(cue.end_ms, ',')}\n{text}\n"
        )
    return "\n".join(blocks)


def render_vtt(document: TranscriptDocument, options: ExportOptions) -> str:
    """Return WebVTT with speakers as voice tags."""
    blocks = ["WEBVTT\n"]
    if not document.is_trained:
        blocks.append(f"NOTE {UNTRAINED_NOTE}\n")
    for cue in make_cues(document, options):
        text = "\n".join(_escape(line) for line in cue.lines)
        if options.with_speakers and cue.speaker is not None:
            text = f"<v {_escape(one_line(document.speaker_name(cue.speaker)))}>{text}"
        blocks.append(f"{_time(cue.start_ms, '.')} --> {_time(cue.end_ms, '.')}\n{text}\n")
    return "\n".join(blocks)


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _time(ms: int, point: str) -> str:
    seconds, ms = divmod(ms, 1000)
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{point}{ms:03d}"
