"""RTTM (who speaks when) and CTM (which word when), as scoring tools read them."""

from engine.store.exporters.options import ExportOptions, recording_name, without_blanks
from engine.text.document import TranscriptDocument

_CHANNEL = 1


def render_rttm(document: TranscriptDocument, options: ExportOptions) -> str:
    """Return the speaker turns, overlapping ones too, in order of start."""
    name = recording_name(document, options)
    lines = []
    for turn in document.activity.turns(options.turns):
        start_s, length_s = turn.start_ms / 1000, (turn.end_ms - turn.start_ms) / 1000
        speaker = without_blanks(document.speaker_name(turn.speaker))
        place = f"{name} {_CHANNEL} {start_s:.3f} {length_s:.3f}"
        lines.append(f"SPEAKER {place} <NA> <NA> {speaker} <NA> <NA>\n")
    return "".join(lines)


def render_ctm(document: TranscriptDocument, options: ExportOptions) -> str:
    """Return the words with start, length and probability, in order of start."""
    name = recording_name(document, options)
    lines = []
    for entry in sorted(document.words, key=lambda entry: (entry.word.start, entry.id)):
        word = entry.word
        text = without_blanks(word.text)
        if not text:
            continue
        start_s, length_s = document.seconds(word.start), document.seconds(word.end - word.start)
        probability = f"{word.probability:.3f}"
        lines.append(f"{name} {_CHANNEL} {start_s:.3f} {length_s:.3f} {text} {probability}\n")
    return "".join(lines)
