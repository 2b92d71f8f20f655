import numpy as np
import pytest

from engine.core.events import (
    ActivityRevised,
    FinalWords,
    PartialWords,
    RecordingStarted,
    RecordingStopped,
    SpanMarked,
    SpeakerRenamed,
)
from engine.core.types import SpanKind, SpeakerId, Word
from engine.text.document import LINE_MAX_WORDS, TranscriptDocument

RATE = 1000
A, B = SpeakerId(0, 0), SpeakerId(0, 1)


def document() -> TranscriptDocument:
    made = TranscriptDocument()
    made.apply(RecordingStarted("id", RATE, "2026-01-01T00:00:00+00:00", "microphone", True))
    return made


def word(text: str, start_s: float, end_s: float) -> Word:
    return Word(f" {text}", round(start_s * RATE), round(end_s * RATE), 0.9)


def activity(first_frame: int, *slots: int | None, probability: float = 0.9) -> ActivityRevised:
    """Rows of 100 ms in which one slot, or nobody, is active."""
    rows = np.zeros((len(slots), 8), np.float32)
    for i, slot in enumerate(slots):
        if slot is not None:
            rows[i, slot] = probability
    return ActivityRevised(first_frame, 100, rows, first_frame + len(slots))


def lines(made: TranscriptDocument) -> list[tuple[SpeakerId | None, str]]:
    return [(line.speaker, made.line_text(line)) for line in made.lines]


@pytest.mark.unit
def test_words_when_speakers_are_known_then_lines_follow_the_speakers():
    made = document()
    made.apply(activity(0, *[0] * 10, *[1] * 10))
    made.apply(FinalWords((word("one", 0.0, 0.4), word("two", 0.5, 0.9), word("three", 1.0, 1.5))))

    assert lines(made) == [(A, "one two"), (B, "three")]


@pytest.mark.unit
def test_words_when_speakers_come_later_then_lines_are_made_anew():
    made = document()
    made.apply(FinalWords((word("one", 0.0, 0.4), word("two", 1.0, 1.5))))
    assert lines(made) == [(None, "one two")]

    changed = made.apply(activity(0, *[0] * 10, *[1] * 10))

    assert changed == 0
    assert lines(made) == [(A, "one"), (B, "two")]


@pytest.mark.unit
def test_words_when_activity_is_revised_then_only_the_range_is_looked_at_again():
    made = document()
    made.apply(activity(0, *[0] * 20))
    made.apply(FinalWords((word("one", 0.0, 0.4), word("two", 1.0, 1.5))))

    changed = made.apply(activity(10, *[1] * 10))

    assert changed == 0
    assert lines(made) == [(A, "one"), (B, "two")]
    assert made.apply(activity(10, *[1] * 10)) is None


@pytest.mark.unit
def test_word_when_two_speak_then_it_has_both_the_likelier_first():
    made = document()
    rows = np.zeros((10, 8), np.float32)
    rows[:, 0], rows[:, 1] = 0.7, 0.8
    made.apply(ActivityRevised(0, 100, rows, 10))
    made.apply(FinalWords((word("both", 0.1, 0.6),)))

    assert made.words[0].speakers == (B, A)


@pytest.mark.unit
def test_word_when_nobody_is_known_yet_then_stays_in_the_running_line():
    made = document()
    made.apply(activity(0, *[0] * 5))
    made.apply(FinalWords((word("a", 0.0, 0.4), word("b", 0.6, 0.9), word("c", 1.0, 1.4))))

    assert lines(made) == [(A, "a b c")]
    assert made.words[1].speakers == ()


@pytest.mark.unit
def test_line_when_there_is_a_long_pause_then_a_new_one_begins():
    made = document()
    made.apply(FinalWords((word("one", 0.0, 0.4), word("two", 2.5, 2.9))))

    assert [text for _, text in lines(made)] == ["one", "two"]


@pytest.mark.unit
def test_line_when_very_long_then_breaks_at_a_sentence_end():
    made = document()
    words = [word(f"w{i}", i * 0.2, i * 0.2 + 0.1) for i in range(LINE_MAX_WORDS + 10)]
    words[LINE_MAX_WORDS + 4] = word("end.", (LINE_MAX_WORDS + 4) * 0.2, (LINE_MAX_WORDS + 5) * 0.2)
    made.apply(FinalWords(tuple(words)))

    assert [line.end - line.first for line in made.lines] == [LINE_MAX_WORDS + 5, 5]


@pytest.mark.unit
def test_late_words_when_they_belong_earlier_then_go_where_they_were_said():
    made = document()
    made.apply(FinalWords((word("one", 0.0, 0.4), word("three", 2.0, 2.4))))
    made.apply(FinalWords((word("two", 1.0, 1.4),)))

    assert made.text() == "one two three"
    assert [entry.id for entry in made.words] == [0, 2, 1]


@pytest.mark.unit
def test_replica_when_events_come_in_other_pieces_then_is_equal():
    events = [activity(i * 5, *[i % 2] * 5) for i in range(8)]
    words = [word(f"w{i}", i * 0.4, i * 0.4 + 0.3) for i in range(10)]
    whole, pieces = document(), document()
    for event in events:
        whole.apply(event)
    whole.apply(FinalWords(tuple(words)))
    for i, one in enumerate(words):
        pieces.apply(FinalWords((one,)))
        if i < len(events):
            pieces.apply(events[i])

    assert lines(pieces) == lines(whole)
    assert [w.speakers for w in pieces.words] == [w.speakers for w in whole.words]


@pytest.mark.unit
def test_partial_when_the_recording_stops_then_is_gone():
    made = document()
    made.apply(PartialWords((word("maybe", 0.0, 0.3),)))
    assert made.partial
    made.apply(RecordingStopped("id", 5000))

    assert made.partial == ()
    assert made.is_complete
    assert made.seconds(made.num_samples) == 5.0


@pytest.mark.unit
def test_name_when_given_and_taken_back_then_the_letter_returns():
    made = document()
    made.apply(SpeakerRenamed(0, 0, " Maria "))
    assert made.speaker_name(A) == "Maria"
    made.apply(SpeakerRenamed(0, 0, ""))

    assert made.speaker_name(A) == "Speaker A"
    assert made.speaker_name(SpeakerId(1, 2)) == "Speaker C2"


@pytest.mark.unit
def test_span_when_told_again_then_the_newest_counts():
    made = document()
    made.apply(SpanMarked(1, SpanKind.OWN_VOICE, 100, 100))
    made.apply(SpanMarked(0, SpanKind.GAP, 50, 60, "busy"))
    made.apply(SpanMarked(1, SpanKind.OWN_VOICE, 100, 900))

    assert [(span.kind, span.end) for span in made.spans] == [
        (SpanKind.GAP, 60),
        (SpanKind.OWN_VOICE, 900),
    ]


@pytest.mark.unit
def test_append_when_the_document_is_long_then_costs_the_same():
    made = document()
    for i in range(4_000):
        made.apply(FinalWords((word("w", i * 0.3, i * 0.3 + 0.2),)))
        if i % 5 == 0:
            made.apply(activity(i * 3, *[i // 40 % 2] * 15))

    assert len(made.words) == 4_000
    # Each line is the words of one speaker: 40 words of 0.3 s.
    assert 80 < len(made.lines) < 140


@pytest.mark.unit
@pytest.mark.parametrize("kind", [SpanKind.PAUSE, SpanKind.GAP])
@pytest.mark.parametrize("is_late", [True, False])
def test_line_when_the_recording_was_interrupted_then_a_new_one_begins(kind, is_late):
    document = TranscriptDocument()
    words = FinalWords(tuple(Word(f" w{i}", i * 6400, i * 6400 + 6300) for i in range(6)))
    # The third word was cut short by it.
    mark = SpanMarked(1, kind, 2 * 6400 + 800, 2 * 6400 + 800)
    for event in (words, mark) if is_late else (mark, words):
        document.apply(event)

    assert [document.line_text(line) for line in document.lines] == ["w0 w1 w2", "w3 w4 w5"]
    document.apply(SpanMarked(1, SpanKind.UNTRANSCRIBED, 0, 0))
    assert [document.line_text(line) for line in document.lines] == ["w0 w1 w2 w3 w4 w5"]


@pytest.mark.unit
def test_line_when_words_are_left_out_there_then_goes_on():
    document = TranscriptDocument()
    document.apply(FinalWords((Word(" one", 0, 100), Word(" two", 300, 400))))
    document.apply(SpanMarked(1, SpanKind.UNTRANSCRIBED, 120, 280))
    assert len(document.lines) == 1
