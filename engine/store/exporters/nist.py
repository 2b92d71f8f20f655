"""RTTM (who speaks when) and CTM (which word when), as scoring tools read them."""

from collections.abc import Iterator

from engine.store.exporters.options import ExportOptions, recording_name, without_blanks
from engine.text.document import DocumentWord, TranscriptDocument
from engine.text.turns import document_turns

_CHANNEL = 1


def render_rttm(document: TranscriptDocument, options: ExportOptions) -> str:
    """Return the speaker turns, overlapping ones too, in order of start."""
    name = recording_name(document, options)
    lines = []
    for turn in document_turns(document, options.turns):
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
        probability = f"{entry.word.probability:.3f}"
        for text, start, length in _parts(entry):
            place = f"{document.seconds(start):.3f} {document.seconds(length):.3f}"
            lines.append(f"{name} {_CHANNEL} {place} {text} {probability}\n")
    return "".join(lines)


def _parts(entry: DocumentWord) -> Iterator[tuple[str, int, int]]:
    """Yield a word's text, start and length; each of several words put in its place as its own."""
    word = entry.word
    texts = word.text.split() if entry.is_edited else [without_blanks(word.text)]
    length = word.end - word.start
    for number, text in enumerate(texts):
        start, end = (word.start + length * at // len(texts) for at in (number, number + 1))
        if text:
            yield text, start, end - start
