"""The whole program on real models and real speech: word and diarization errors."""

import os
from pathlib import Path

import jiwer
import numpy as np
import pytest
import soundfile
from pyannote.core import Annotation, Segment, Timeline
from pyannote.metrics.diarization import DiarizationErrorRate
from whisper_normalizer.english import EnglishTextNormalizer

from engine.core.config import Settings, load_settings
from engine.core.events import FinalWords
from engine.core.resources import resource_path
from engine.core.types import BackendKind
from engine.session.build import build_session
from engine.text.document import TranscriptDocument

LIBRIVOX = Path("/usr/share/pocketsphinx/test/data/librivox")
PAUSE_S = 0.7

pytestmark = [pytest.mark.integration, pytest.mark.models, pytest.mark.slow]


def listen(path: Path, *, is_fast: bool) -> TranscriptDocument:
    settings = load_settings(os.environ)
    session = build_session(
        Settings(keep="nothing", models_dir=settings.models_dir), os.environ, is_fast=is_fast
    )
    with session:
        for kind in (BackendKind.RECOGNIZER, BackendKind.DIARIZER):
            session.load((kind,))
            session.wait_until_loaded(kind)
        session.start(f"file:{path}").result(30)
        assert session.wait_until_stopped(200)
    return session.document


def word_errors(reference: str, hypothesis: str) -> float:
    normalize = EnglishTextNormalizer()
    return float(jiwer.wer(normalize(reference), normalize(hypothesis)))


def rttm(path: Path) -> Annotation:
    found = Annotation()
    for number, line in enumerate(path.read_text().splitlines()):
        fields = line.split()
        start_s, duration_s = float(fields[3]), float(fields[4])
        found[Segment(start_s, start_s + duration_s), number] = fields[7]
    return found


def turns(document: TranscriptDocument) -> Annotation:
    found = Annotation()
    for number, turn in enumerate(document.activity.turns()):
        segment = Segment(turn.start_ms / 1000, turn.end_ms / 1000)
        found[segment, number] = turn.speaker.letter
    return found


@pytest.fixture(scope="module")
def demo_text() -> str:
    lines = resource_path("demo/conversation.txt").read_text().splitlines()
    return " ".join(line.split(":", 1)[1] for line in lines if line.strip())


@pytest.mark.parametrize("is_fast", [True, False], ids=["as fast as it goes", "at real time"])
def test_demo_when_heard_then_words_and_speakers_are_right(demo_text, is_fast):
    document = listen(resource_path("demo/conversation.flac"), is_fast=is_fast)

    errors = word_errors(demo_text, document.text())
    whole = Timeline([Segment(0, document.seconds(document.num_samples))])
    metric = DiarizationErrorRate(collar=0.0, skip_overlap=False)
    diarization = metric(rttm(resource_path("demo/conversation.rttm")), turns(document), uem=whole)
    assert errors <= (0.05 if is_fast else 0.15), document.text()
    assert diarization <= 0.25, turns(document)
    assert {speaker.letter for speaker in document.speakers} == {"A", "B"}


def test_read_sentences_when_live_then_words_are_as_good_as_offline(tmp_path, models_dir):
    lines = (LIBRIVOX / "transcription").read_text().splitlines()
    texts = {}
    for line in lines:
        text, _, name = line.rpartition("(")
        texts[name.rstrip(")")] = text.replace("<s>", "").replace("</s>", "").strip()
    pieces = []
    for name in texts:
        pcm, rate = soundfile.read(LIBRIVOX / f"{name}.wav", dtype="float32")
        pieces += [pcm, np.zeros(round(PAUSE_S * rate), np.float32)]
    path = tmp_path / "sentences.wav"
    audio = np.concatenate(pieces)
    soundfile.write(path, audio, rate)
    reference = " ".join(texts.values())

    document = listen(path, is_fast=False)

    from faster_whisper import WhisperModel

    model = WhisperModel(str(models_dir / "whisper-tiny.en"), device="cpu", compute_type="int8")
    segments, _ = model.transcribe(audio, language="en")
    offline = word_errors(reference, "".join(segment.text for segment in segments))
    live = word_errors(reference, document.text())
    assert live <= offline + 0.03, document.text()


def test_noise_when_nobody_speaks_then_no_word_is_invented(tmp_path):
    rate = 16_000
    rng = np.random.default_rng(3)
    noise = (0.02 * rng.standard_normal(15 * rate)).astype(np.float32)
    hum = (0.2 * np.sin(2 * np.pi * 100 * np.arange(10 * rate) / rate)).astype(np.float32)
    path = tmp_path / "noise.wav"
    soundfile.write(path, np.concatenate([noise, hum, np.zeros(10 * rate, np.float32)]), rate)

    document = listen(path, is_fast=True)

    assert document.text() == ""
    assert document.activity.turns() == ()


def test_session_when_final_words_are_told_then_they_never_change(demo_text):
    settings = load_settings(os.environ)
    told: list[str] = []
    with build_session(
        Settings(keep="nothing", diarizer="none", models_dir=settings.models_dir),
        os.environ,
        is_fast=True,
    ) as session:
        session.subscribe(
            lambda event: (
                told.extend(word.text for word in event.words)
                if isinstance(event, FinalWords)
                else None
            )
        )
        session.start(f"file:{resource_path('demo/conversation.flac')}").result(30)
        assert session.wait_until_stopped(100)
        document = session.document

    assert "".join(told).strip() == document.text()
