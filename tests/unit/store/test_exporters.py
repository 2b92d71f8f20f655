import io
import json
import os
import stat
from pathlib import Path

import numpy as np
import pysubs2
import pytest
from pyannote.database.util import load_rttm

from engine.core.errors import ConfigError, StoreError
from engine.core.events import (
    ActivityRevised,
    BackendChanged,
    BackendState,
    FinalWords,
    RecordingStarted,
    RecordingStopped,
    SpanMarked,
    SpeakerColored,
    SpeakerMerged,
    SpeakerRenamed,
    WordsAssigned,
    WordsEdited,
)
from engine.core.types import BackendKind, SpanKind, SpeakerId, Word
from engine.store.exporters.export import export, format_of, render
from engine.store.exporters.options import ExportFormat, ExportOptions
from engine.text.document import TranscriptDocument

pytestmark = pytest.mark.unit

RATE = 16_000


def _words(start_s: float, *texts: str, each_s: float = 0.4) -> FinalWords:
    times = [round((start_s + at * each_s) * RATE) for at in range(len(texts) + 1)]
    return FinalWords(
        tuple(
            Word(f" {text}", times[at], times[at + 1], 0.5 + 0.01 * at)
            for at, text in enumerate(texts)
        )
    )


@pytest.fixture
def document() -> TranscriptDocument:
    """Two people, half a second of whom overlaps, a gap, and one with an awkward name."""
    document = TranscriptDocument()
    rows = np.zeros((100, 2), np.float32)
    rows[0:30, 0] = 0.9  # 0 to 2.4 s
    rows[25:60, 1] = 0.8  # 2.0 to 4.8 s
    for event in (
        RecordingStarted("rec 1", RATE, "2026-11-30T14:03:22+01:00", "Desk", is_kept=True),
        ActivityRevised(0, 80, rows, 100),
        _words(0.0, "Is", "1", "<", "2", "&", "so?"),
        _words(2.8, "Yes", "-->", "it", "is."),
        SpanMarked(1, SpanKind.GAP, 6 * RATE, round(7.5 * RATE), "the device was lost"),
        SpanMarked(2, SpanKind.PAUSE, 8 * RATE, 8 * RATE),
        SpeakerRenamed(0, 1, "Mira <b> & Co"),
        RecordingStopped("rec 1", 8 * RATE),
    ):
        document.apply(event)
    return document


def _untrained(document: TranscriptDocument) -> TranscriptDocument:
    document.apply(
        BackendChanged(BackendKind.RECOGNIZER, "x", BackendState.READY, is_trained=False)
    )
    return document


def test_txt_when_rendered_then_lines_have_time_and_speaker_and_losses(
    document: TranscriptDocument,
) -> None:
    assert render(document, "txt").splitlines() == [
        "[00:00:00] Speaker A: Is 1 < 2 & so?",
        "[00:00:03] Mira <b> & Co: Yes --> it is.",
        "[00:00:06] [audio lost: 1.5 s]",
    ]
    plain = ExportOptions(with_speakers=False, with_times=False)
    assert render(document, "txt", plain).splitlines()[0] == "Is 1 < 2 & so?"


def test_srt_when_rendered_then_arrows_in_text_do_not_break_it(
    document: TranscriptDocument,
) -> None:
    text = render(document, ExportFormat.SRT)
    assert text == (
        "1\n00:00:00,000 --> 00:00:02,400\nSpeaker A: Is 1 < 2 & so?\n"
        "\n2\n00:00:02,800 --> 00:00:04,400\nMira <b> & Co: Yes → it is.\n"
    )
    cues = pysubs2.SSAFile.from_string(text, format_="srt")
    assert [(cue.start, cue.end) for cue in cues] == [(0, 2400), (2800, 4400)]


def test_vtt_when_rendered_then_speakers_are_voices_and_signs_are_escaped(
    document: TranscriptDocument,
) -> None:
    assert render(document, "vtt") == (
        "WEBVTT\n"
        "\n00:00:00.000 --> 00:00:02.400\n<v Speaker A>Is 1 &lt; 2 &amp; so?\n"
        "\n00:00:02.800 --> 00:00:04.400\n"
        "<v Mira &lt;b&gt; &amp; Co>Yes --&gt; it is.\n"
    )
    cues = pysubs2.SSAFile.from_string(render(document, "vtt"), format_="vtt")
    assert len(cues) == 2


def test_rttm_when_rendered_then_overlap_is_kept_and_fields_hold_no_blanks(
    document: TranscriptDocument, tmp_path: Path
) -> None:
    text = render(document, "rttm")
    assert text.splitlines() == [
        "SPEAKER rec_1 1 0.000 2.400 <NA> <NA> Speaker_A <NA> <NA>",
        "SPEAKER rec_1 1 2.000 2.800 <NA> <NA> Mira_<b>_&_Co <NA> <NA>",
    ]
    path = tmp_path / "x.rttm"
    path.write_text(text)
    annotation = load_rttm(path)["rec_1"]
    assert annotation.get_overlap().duration() == pytest.approx(0.4)


def test_ctm_when_words_came_late_then_sorted_by_start(document: TranscriptDocument) -> None:
    document.apply(_words(2.45, "well then"))
    lines = render(document, "ctm", ExportOptions(name="my talk")).splitlines()
    assert lines[0] == "my_talk 1 0.000 0.400 Is 0.500"
    assert "my_talk 1 2.450 0.400 well_then 0.500" in lines
    assert all(len(line.split()) == 6 for line in lines)
    starts = [float(line.split()[2]) for line in lines]
    assert starts == sorted(starts)


def test_json_when_rendered_then_holds_the_documented_schema(
    document: TranscriptDocument,
) -> None:
    data = json.loads(render(document, "json"))
    assert (data["format"], data["version"], data["is_trained"]) == ("vivavoce-transcript", 1, True)
    assert data["recording"] == {
        "id": "rec 1",
        "started_at": "2026-11-30T14:03:22+01:00",
        "device": "Desk",
        "sample_rate": RATE,
        "duration": 8.0,
        "is_complete": True,
    }
    assert data["speakers"][1] == {
        "id": "B",
        "name": "Mira <b> & Co",
        "epoch": 0,
        "slot": 1,
        "color": 1,
        "merged": [],
    }
    assert data["words"][0] == {
        "text": "Is",
        "start": 0.0,
        "end": 0.4,
        "probability": 0.5,
        "speakers": ["A"],
    }
    # Two voices on one word are both kept.
    assert data["words"][5]["speakers"] == ["A", "B"]
    assert data["lines"][1]["text"] == "Yes --> it is."
    assert data["turns"][1] == {"speaker": "B", "start": 2.0, "end": 4.8}
    assert data["spans"][0] == {
        "kind": "gap",
        "start": 6.0,
        "end": 7.5,
        "reason": "the device was lost",
    }


@pytest.fixture
def edited(document: TranscriptDocument) -> TranscriptDocument:
    """The same, with words given to somebody new, corrected, and taken out."""
    document.apply(WordsAssigned((6, 7, 8, 9), (SpeakerId(-1, 0),)))
    document.apply(SpeakerRenamed(-1, 0, "דנה 🎤"))
    document.apply(SpeakerColored(SpeakerId(-1, 0), 4))
    document.apply(WordsEdited((1, 2, 5, 6), (" one is", "", " so good?", "")))
    return document


def test_text_formats_when_edited_then_hold_what_the_user_made_of_it(
    edited: TranscriptDocument,
) -> None:
    assert render(edited, "txt").splitlines()[:2] == [
        "[00:00:00] Speaker A: Is one is 2 & so good?",
        "[00:00:03] דנה 🎤: --> it is.",
    ]
    assert "Speaker A: Is one is 2 & so good?\n" in render(edited, "srt")
    assert "<v דנה 🎤>--&gt; it is.\n" in render(edited, "vtt")


def test_nist_formats_when_edited_then_turns_and_words_follow(edited: TranscriptDocument) -> None:
    assert render(edited, "rttm").splitlines() == [
        "SPEAKER rec_1 1 0.000 2.400 <NA> <NA> Speaker_A <NA> <NA>",
        "SPEAKER rec_1 1 2.000 0.800 <NA> <NA> Mira_<b>_&_Co <NA> <NA>",
        "SPEAKER rec_1 1 2.800 1.600 <NA> <NA> דנה_🎤 <NA> <NA>",
        "SPEAKER rec_1 1 4.400 0.400 <NA> <NA> Mira_<b>_&_Co <NA> <NA>",
    ]
    words = [line.split()[2:5] for line in render(edited, "ctm").splitlines()]
    assert words[:4] == [
        ["0.000", "0.400", "Is"],
        ["0.400", "0.200", "one"],
        ["0.600", "0.200", "is"],
        ["1.200", "0.400", "2"],
    ]


def test_json_when_edited_then_says_what_was_heard_and_who_was_made(
    edited: TranscriptDocument,
) -> None:
    data = json.loads(render(edited, "json"))
    assert data["speakers"][0] == {
        "id": "I",
        "name": "דנה 🎤",
        "epoch": -1,
        "slot": 0,
        "color": 4,
        "merged": [],
    }
    assert data["words"][1]["text"] == "one is"
    assert data["words"][1]["heard"] == "1"
    assert "heard" not in data["words"][0]
    assert [word["text"] for word in data["words"]].count("") == 0
    assert [word.get("is_locked", False) for word in data["words"][-3:]] == [True] * 3
    assert data["lines"][1] == {"speaker": "I", "start": 3.2, "end": 4.4, "text": "--> it is."}


def test_exports_when_speakers_are_merged_then_they_are_one(document: TranscriptDocument) -> None:
    document.apply(SpeakerMerged(SpeakerId(0, 1), SpeakerId(0, 0)))

    assert len(render(document, "rttm").splitlines()) == 1
    data = json.loads(render(document, "json"))
    assert [(s["id"], s["merged"]) for s in data["speakers"]] == [("A", ["B"])]
    assert data["words"][5]["speakers"] == ["A"]
    assert render(document, "txt").splitlines()[0].endswith("Is 1 < 2 & so? Yes --> it is.")


@pytest.mark.parametrize("name", list(ExportFormat))
def test_exports_when_all_words_are_gone_then_hold_no_empty_line_or_cue(
    document: TranscriptDocument, name: ExportFormat
) -> None:
    document.apply(WordsEdited(tuple(range(10)), ("",) * 10))
    text = render(document, name)
    assert "Speaker A:" not in text
    assert "-->" not in text
    assert '"lines": []' in text or name is not ExportFormat.JSON


@pytest.mark.parametrize("name", list(ExportFormat))
def test_export_when_weights_are_untrained_then_marked(
    document: TranscriptDocument, name: ExportFormat
) -> None:
    before = render(document, name)
    after = render(_untrained(document), name)
    assert "untrained" in after or '"is_trained": false' in after
    assert "untrained" not in before


def test_srt_when_untrained_then_still_valid(document: TranscriptDocument) -> None:
    cues = pysubs2.SSAFile.from_string(render(_untrained(document), "srt"), format_="srt")
    assert "untrained" in cues[0].text
    assert all(cue.end > cue.start for cue in cues)


@pytest.mark.parametrize("name", list(ExportFormat))
def test_export_when_the_document_is_empty_then_still_a_file(
    name: ExportFormat, tmp_path: Path
) -> None:
    path = tmp_path / f"x.{name}"
    export(TranscriptDocument(), name, path)
    assert path.exists()
    assert format_of(path) is name


def test_export_when_written_then_readable_by_its_owner_alone(
    document: TranscriptDocument, tmp_path: Path
) -> None:
    path = tmp_path / "x.txt"
    export(document, "txt", path)
    assert path.read_text("utf-8") == render(document, "txt")
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_export_when_given_a_stream_then_written_to_it(document: TranscriptDocument) -> None:
    out = io.StringIO()
    export(document, "vtt", out)
    assert out.getvalue() == render(document, "vtt")


def test_export_when_the_folder_is_missing_then_store_error_and_nothing_left(
    document: TranscriptDocument, tmp_path: Path
) -> None:
    with pytest.raises(StoreError, match=r"x\.txt cannot be written"):
        export(document, "txt", tmp_path / "none" / "x.txt")
    target = tmp_path / "folder.txt"
    target.mkdir()
    with pytest.raises(StoreError, match=r"folder\.txt cannot be written"):
        export(document, "txt", target)
    assert [path.name for path in tmp_path.iterdir()] == ["folder.txt"]


def test_export_when_the_format_is_unknown_then_the_known_are_named(
    document: TranscriptDocument,
) -> None:
    with pytest.raises(ConfigError, match="txt, srt, vtt, json, rttm, ctm"):
        render(document, "docx")
    assert format_of(Path("x.docx")) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_line_chars": 5},
        {"max_lines": 0},
        {"min_cue_s": 9.0},
        {"min_cue_s": 0.0},
    ],
)
def test_options_when_out_of_range_then_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"must|needs"):
        ExportOptions(**wrong)  # type: ignore[arg-type]


def test_exports_when_a_pause_or_a_loss_lies_between_words_then_no_line_or_cue_bridges_it(
    document: TranscriptDocument,
) -> None:
    for mark_id, kind, start in ((5, SpanKind.PAUSE, 0.8), (6, SpanKind.GAP, 3.6)):
        document.apply(SpanMarked(mark_id, kind, round(start * RATE), round(start * RATE)))

    txt = render(document, "txt").splitlines()
    assert txt[0].endswith("Is 1")
    assert txt[1].endswith("< 2 & so?")
    cues = list(pysubs2.SSAFile.from_string(render(document, "srt"), "srt"))
    assert [cue.plaintext.split(": ")[-1] for cue in cues] == [
        "Is 1",
        "< 2 & so?",
        "Yes →",
        "it is.",
    ]
    assert all(cue.end <= 800 or cue.start >= 800 for cue in cues)
    lines = json.loads(render(document, "json"))["lines"]
    assert [line["text"] for line in lines] == ["Is 1", "< 2 & so?", "Yes -->", "it is."]
