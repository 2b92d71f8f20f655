"""The demo conversation through the command line, with the embedded models."""

import json
from itertools import pairwise
from pathlib import Path

import jiwer
import pysubs2
import pytest
from pyannote.core import Annotation, Segment, Timeline
from pyannote.database.util import load_rttm
from pyannote.metrics.diarization import DiarizationErrorRate
from whisper_normalizer.english import EnglishTextNormalizer

from engine.core.resources import resource_path
from tests.helpers.cli import Outcome, run_cli

pytestmark = [pytest.mark.models, pytest.mark.slow]

MAX_WORD_ERROR_RATE = 0.15
MAX_DIARIZATION_ERROR_RATE = 0.25


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> tuple[Outcome, dict]:
    """What `listen` printed, and the environment with the recording that it kept."""
    env = {
        "VIVAVOCE_HOME": str(tmp_path_factory.mktemp("demo")),
        "VIVAVOCE_MODELS_DIR": str(models_dir),
    }
    outcome = run_cli(
        "listen", "--input", "demo", "--fast", "--keep", "text", env=env, timeout_s=280
    )
    assert outcome.status == 0, outcome.err
    return outcome, env


def reference_text() -> str:
    lines = resource_path("demo/conversation.txt").read_text("utf-8").splitlines()
    return " ".join(line.partition(": ")[2] for line in lines)


def word_error_rate(reference: str, hypothesis: str) -> float:
    normalize = EnglishTextNormalizer()
    return jiwer.wer(normalize(reference), normalize(hypothesis))


def exported(kept: tuple[Outcome, dict], export_format: str) -> str:
    outcome = run_cli("sessions", "export", "last", "--format", export_format, env=kept[1])
    assert outcome.status == 0, outcome.err
    return outcome.out


def test_lines_when_demo_is_listened_to_then_text_times_and_speakers_are_right(kept):
    lines = kept[0].lines
    assert all(line[0] == "[" and line[9:11] == "] " and line[12:14] == "  " for line in lines)
    times = [line[1:9] for line in lines]
    assert times == sorted(times)
    text = " ".join(line[14:] for line in lines)
    assert word_error_rate(reference_text(), text) <= MAX_WORD_ERROR_RATE
    assert len({line[11] for line in lines}) >= 2
    assert "Nothing leaves this machine" in kept[0].err


def test_rttm_when_exported_then_pyannote_reads_it_and_speakers_are_right(kept, tmp_path):
    path = tmp_path / "out.rttm"
    path.write_text(exported(kept, "rttm"))
    (hypothesis,) = load_rttm(str(path)).values()
    reference = Annotation()
    for row in resource_path("demo/conversation.rttm").read_text().splitlines():
        fields = row.split()
        start, length = float(fields[3]), float(fields[4])
        reference[Segment(start, start + length)] = fields[7]
    metric = DiarizationErrorRate(collar=0.0, skip_overlap=False)
    rate = metric(reference, hypothesis, uem=Timeline([Segment(0, 28)]))
    assert rate <= MAX_DIARIZATION_ERROR_RATE


@pytest.mark.parametrize("export_format", ["srt", "vtt"])
def test_subtitles_when_exported_then_pysubs2_reads_them_in_order(kept, export_format):
    cues = pysubs2.SSAFile.from_string(exported(kept, export_format), format_=export_format)
    assert len(cues) >= 4
    assert all(0 <= a.start < a.end <= b.start + 1 for a, b in pairwise(cues))
    assert cues[-1].end <= 28_500


def test_json_when_exported_then_words_have_times_probability_and_speakers(kept):
    document = json.loads(exported(kept, "json"))
    words = document["words"]
    assert len(words) > 60
    for word in words:
        assert 0 <= word["start"] <= word["end"] <= 28.5
        assert 0 <= word["probability"] <= 1
        assert isinstance(word["speakers"], list)
    text = " ".join(word["text"].strip() for word in words)
    assert word_error_rate(reference_text(), text) <= MAX_WORD_ERROR_RATE


def test_ctm_when_exported_then_every_line_is_a_word_with_times(kept):
    rows = [r.split() for r in exported(kept, "ctm").splitlines() if not r.startswith(";;")]
    assert len(rows) > 60
    assert all(len(row) in (5, 6) and float(row[2]) >= 0 and float(row[3]) >= 0 for row in rows)


def test_sessions_when_one_was_kept_then_listed_shown_and_deleted(kept):
    env = kept[1]
    listed = run_cli("sessions", "list", env=env)
    assert listed.status == 0
    (line,) = listed.lines
    assert "text" in line
    assert "00:00:2" in line
    shown = run_cli("sessions", "show", "last", env=env).out
    assert word_error_rate(reference_text(), _without_heads(shown)) <= 0.3


def _without_heads(shown: str) -> str:
    kept_lines = [line for line in shown.splitlines() if line and line[0] == "["]
    return " ".join(line.partition(":")[2].rpartition(":")[2] for line in kept_lines) or shown


def test_transcribe_when_output_has_a_suffix_then_written_in_its_format(tmp_path):
    out = tmp_path / "demo.json"
    outcome = run_cli("transcribe", "demo", "-o", str(out), timeout_s=280)
    assert outcome.status == 0, outcome.err
    assert outcome.out == ""
    text = " ".join(word["text"].strip() for word in json.loads(out.read_text())["words"])
    assert word_error_rate(reference_text(), text) <= MAX_WORD_ERROR_RATE


@pytest.mark.parametrize("export_format", ["txt", "srt", "vtt", "json", "rttm", "ctm"])
def test_transcribe_when_a_format_is_named_then_written_to_standard_output(export_format):
    fakes = ("--recognizer", "fake:one two three", "--diarizer", "fake")
    outcome = run_cli("transcribe", "demo", "-f", export_format, *fakes)
    assert outcome.status == 0, outcome.err
    assert outcome.out.strip()
    if export_format != "rttm":
        assert "two" in outcome.out
