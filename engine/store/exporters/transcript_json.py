"""The whole transcript as JSON, in a schema with a version (docs/events.md)."""

from typing import Any

import msgspec

from engine.core.types import SpeakerId
from engine.store.exporters.options import ExportOptions
from engine.text.document import DocumentWord, TranscriptDocument
from engine.text.turns import document_turns

TRANSCRIPT_VERSION = 1


def render(document: TranscriptDocument, options: ExportOptions) -> str:
    """Return words, lines, speakers, turns and marked spans; times in seconds."""
    turns = document_turns(document, options.turns)
    speakers = sorted({*document.speakers, *(turn.speaker for turn in turns)})
    data = {
        "format": "vivavoce-transcript",
        "version": TRANSCRIPT_VERSION,
        "is_trained": document.is_trained,
        "recording": _recording(document),
        "speakers": [
            {
                "id": speaker.letter,
                "name": document.speaker_name(speaker),
                "epoch": speaker.epoch,
                "slot": speaker.slot,
                "color": document.speaker_color(speaker),
                "merged": [merged.letter for merged in document.merged_into(speaker)],
            }
            for speaker in speakers
        ],
        "words": [_word(document, entry) for entry in document.words if not entry.is_gone],
        "lines": [_line(document, at) for at in range(len(document.lines))],
        "turns": [
            {
                "speaker": turn.speaker.letter,
                "start": turn.start_ms / 1000,
                "end": turn.end_ms / 1000,
            }
            for turn in turns
        ],
        "spans": [
            {
                "kind": span.kind,
                "start": _seconds(document, span.start),
                "end": _seconds(document, span.end),
                "reason": span.reason,
            }
            for span in document.spans
        ],
    }
    return msgspec.json.format(msgspec.json.encode(data), indent=2).decode() + "\n"


def _recording(document: TranscriptDocument) -> dict[str, Any]:
    recording = document.recording
    return {
        "id": recording.recording_id if recording else "",
        "started_at": recording.started_at if recording else "",
        "device": recording.device if recording else "",
        "sample_rate": document.sample_rate,
        "duration": _seconds(document, document.num_samples),
        "is_complete": document.is_complete,
    }


def _word(document: TranscriptDocument, entry: DocumentWord) -> dict[str, Any]:
    data = {
        "text": entry.text.strip(),
        "start": _seconds(document, entry.word.start),
        "end": _seconds(document, entry.word.end),
        "probability": round(float(entry.word.probability), 4),
        "speakers": [speaker.letter for speaker in entry.speakers],
    }
    if entry.heard is not None:
        data["heard"] = entry.heard.strip()
    if entry.is_locked:
        data["is_locked"] = True
    return data


def _line(document: TranscriptDocument, at: int) -> dict[str, Any]:
    line = document.lines[at]
    return {
        "speaker": _letter(line.speaker),
        "start": _seconds(document, document.line_start(line)),
        "end": _seconds(document, document.line_end(line)),
        "text": document.line_text(line),
    }


def _letter(speaker: SpeakerId | None) -> str | None:
    return None if speaker is None else speaker.letter


def _seconds(document: TranscriptDocument, sample: int) -> float:
    return round(document.seconds(sample), 3)
