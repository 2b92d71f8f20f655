"""The live recognizer on its real model: words, silence, tails, loops, damaged files."""

import shutil
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import jiwer
import numpy as np
import pytest
import soundfile
from platformdirs import user_data_path
from whisper_normalizer.english import EnglishTextNormalizer

from engine.backends.protocols import BackendContext
from engine.backends.whisper import WhisperRecognizer, create
from engine.core.errors import ConfigError, EngineError, ModelFileError, ModelLoadError
from engine.core.events import FinalWords, PartialWords, StreamEvent
from engine.core.sync import CancelToken
from engine.core.types import Pcm, Word, join_words

pytestmark = [pytest.mark.integration, pytest.mark.models]

RATE = 16_000
LIBRIVOX = Path("/usr/share/pocketsphinx/test/data/librivox")
NORMALIZE = EnglishTextNormalizer()


@pytest.fixture(scope="module")
def whisper_folder() -> Path:
    folder = user_data_path("vivavoce", appauthor=False) / "models" / "whisper-tiny.en"
    if not (folder / "model.bin").is_file():
        pytest.fail(f"{folder} has no model; fetch it with: vivavoce models pull whisper-tiny.en")
    return folder


@pytest.fixture(scope="module")
def recognizer(whisper_folder: Path) -> WhisperRecognizer:
    backend = create(BackendContext(lambda _: whisper_folder), "")
    load(backend)
    return backend


@pytest.fixture(scope="module")
def sentences() -> list[tuple[Pcm, str]]:
    """LibriVox sentences of Debian's pocketsphinx-testdata with their texts."""
    names = (LIBRIVOX / "fileids").read_text().split()
    lines = (LIBRIVOX / "transcription").read_text().splitlines()
    return [
        (
            soundfile.read(LIBRIVOX / f"{name}.wav", dtype="float32")[0],
            line.split("<s>")[1].split("</s>")[0].strip(),
        )
        for name, line in zip(names, lines, strict=True)
    ]


def load(backend: WhisperRecognizer) -> None:
    backend.load(lambda fraction, text: None, CancelToken())


def run(recognizer: WhisperRecognizer, pcm: Pcm, block: int = 1600) -> list[StreamEvent]:
    stream = recognizer.open_stream()
    events: list[StreamEvent] = []
    for at in range(0, len(pcm), block):
        events += stream.push(pcm[at : at + block])
    events += stream.flush()
    stream.close()
    return events


def finals(events: Sequence[StreamEvent]) -> list[Word]:
    return [word for event in events if isinstance(event, FinalWords) for word in event.words]


def with_pauses(sentences: Sequence[tuple[Pcm, str]], pause_s: float) -> Pcm:
    gap = np.zeros(round(pause_s * RATE), dtype=np.float32)
    return np.concatenate([part for pcm, _ in sentences for part in (pcm, gap)])


def num_errors(text: str, words: str) -> int:
    counts = jiwer.process_words(NORMALIZE(text), NORMALIZE(words))
    return counts.substitutions + counts.deletions + counts.insertions


@pytest.fixture(scope="module")
def offline_errors(whisper_folder: Path, sentences: list[tuple[Pcm, str]]) -> int:
    """Words that the same model reads wrongly in whole files."""
    from faster_whisper import WhisperModel

    model = WhisperModel(str(whisper_folder), device="cpu", compute_type="int8")
    errors = 0
    for pcm, text in sentences:
        segments, _ = model.transcribe(pcm, language="en")
        errors += num_errors(text, "".join(segment.text for segment in segments))
    return errors


@pytest.mark.slow
@pytest.mark.parametrize("pause_s", [0.1, 0.7])
def test_words_when_sentences_follow_each_other_then_about_as_right_as_offline(
    recognizer: WhisperRecognizer,
    sentences: list[tuple[Pcm, str]],
    offline_errors: int,
    pause_s: float,
) -> None:
    reference = " ".join(text for _, text in sentences)
    num_words = len(NORMALIZE(reference).split())
    told = finals(run(recognizer, with_pauses(sentences, pause_s)))
    assert num_errors(reference, join_words(told)) <= offline_errors + 0.03 * num_words
    for before, after in pairwise(told):
        assert before.start <= before.end <= after.start <= after.end
    assert all(0.0 <= word.probability <= 1.0 for word in told)


def test_words_when_spoken_then_partials_come_first_and_times_fit(
    recognizer: WhisperRecognizer, sentences: list[tuple[Pcm, str]]
) -> None:
    pcm, _ = sentences[3]
    lead = 2 * RATE
    events = run(recognizer, np.concatenate([np.zeros(lead, dtype=np.float32), pcm]))
    first_final = next(i for i, e in enumerate(events) if isinstance(e, FinalWords))
    assert any(isinstance(e, PartialWords) and e.words for e in events[:first_final])
    told = finals(events)
    assert lead - RATE // 4 <= told[0].start <= lead + RATE
    assert told[0].text.startswith(" ")
    assert lead + len(pcm) - RATE <= told[-1].end <= lead + len(pcm)
    assert isinstance(events[-1], PartialWords)
    assert events[-1].words == ()


@pytest.mark.parametrize("block", [160, 7777, 1_000_000])
def test_events_when_blocks_are_cut_differently_then_are_the_same(
    recognizer: WhisperRecognizer, sentences: list[tuple[Pcm, str]], block: int
) -> None:
    pcm = sentences[4][0]
    assert run(recognizer, pcm, block) == run(recognizer, pcm, 1600)


def test_events_when_two_streams_take_turns_then_do_not_mix(
    recognizer: WhisperRecognizer, sentences: list[tuple[Pcm, str]]
) -> None:
    one, other = recognizer.open_stream(), recognizer.open_stream()
    pcm, second = sentences[4][0], sentences[1][0]
    events: list[StreamEvent] = []
    for at in range(0, max(len(pcm), len(second)), 1600):
        events += one.push(pcm[at : at + 1600])
        other.push(second[at : at + 1600])
    events += one.flush()
    assert finals(events) == finals(run(recognizer, pcm))
    one.reset()
    again = [*one.push(pcm), *one.flush()]
    assert finals(again) == finals(events)


def noises() -> dict[str, Pcm]:
    num, rng = 6 * RATE, np.random.default_rng(3)
    t = np.arange(num) / RATE
    white = rng.standard_normal(num)
    spectrum = np.fft.rfft(white)
    spectrum[1:] /= np.sqrt(np.arange(1, len(spectrum)))
    pink = np.fft.irfft(spectrum, num)
    harmonics = sum(np.sin(2 * np.pi * 150 * k * t) / k for k in range(1, 12))
    wobble = sum(
        np.sin(2 * np.pi * k * (200 * t + 2 * np.sin(2 * np.pi * 5 * t))) / k for k in range(1, 10)
    )
    signals = {
        "silence": np.zeros(num),
        "faint noise": 0.003 * white,
        "white noise": 0.3 * white,
        "pink noise": 0.5 * pink / np.abs(pink).max(),
        "pulsing noise": 0.2 * white * (1 + np.sin(2 * np.pi * 4 * t)),
        "tone": 0.4 * np.sin(2 * np.pi * 440 * t),
        "hum": 0.1 * np.sin(2 * np.pi * 50 * t),
        "buzz": 0.2 * harmonics,
        "vibrato": 0.2 * wobble * (np.sin(2 * np.pi * 1.5 * t) > -0.3),
        "clicks": np.where(rng.random(num) < 2e-4, 0.8, 0.0),
    }
    return {name: np.clip(pcm, -1, 1).astype(np.float32) for name, pcm in signals.items()}


@pytest.mark.parametrize("name", noises())
def test_words_when_nobody_speaks_then_none(recognizer: WhisperRecognizer, name: str) -> None:
    assert finals(run(recognizer, noises()[name])) == []


@pytest.mark.parametrize("tail_s", [0.1, 0.0])
def test_flush_when_the_last_word_has_just_ended_then_it_is_told(
    recognizer: WhisperRecognizer, sentences: list[tuple[Pcm, str]], tail_s: float
) -> None:
    pcm, text = sentences[4]
    loud = np.flatnonzero(np.abs(pcm) > 0.02)
    cut = np.concatenate([pcm[: loud[-1]], np.zeros(round(tail_s * RATE), dtype=np.float32)])
    told = NORMALIZE(join_words(finals(run(recognizer, cut))))
    assert told.endswith(NORMALIZE(text).split()[-1])


def test_words_when_very_little_is_said_then_it_comes_once(
    recognizer: WhisperRecognizer, sentences: list[tuple[Pcm, str]]
) -> None:
    # The end of "amiable himself": short windows are where the model repeats itself.
    pcm = sentences[4][0]
    loud = np.flatnonzero(np.abs(pcm) > 0.02)
    word = pcm[max(0, loud[-1] - round(0.72 * RATE)) : loud[-1]]
    alone = np.concatenate([np.zeros(RATE, np.float32), word, np.zeros(RATE, np.float32)])
    told = NORMALIZE(join_words(finals(run(recognizer, alone)))).split()
    assert 1 <= len(told) <= 2
    assert told[-1].endswith("self")
    assert len(set(told)) == len(told)


def copy_of(folder: Path, target: Path) -> Path:
    target.mkdir()
    for name in ("config.json", "tokenizer.json", "vocabulary.txt", "model.bin"):
        shutil.copyfile(folder / name, target / name)
    return target


def test_load_when_another_folder_is_given_then_it_is_used(
    whisper_folder: Path, sentences: list[tuple[Pcm, str]]
) -> None:
    other = create(BackendContext(lambda _: Path("/nowhere")), str(whisper_folder))
    load(other)
    assert other.spec.languages == ("en",)
    assert finals(run(other, sentences[1][0]))


def test_load_when_the_language_is_unknown_then_names_those_it_knows(whisper_folder: Path) -> None:
    context = BackendContext(lambda _: whisper_folder, options=(("language", "de"),))
    with pytest.raises(ConfigError, match="'de'"):
        load(create(context, ""))


@pytest.mark.parametrize("kept_bytes", [100, 40_000_000])
def test_load_when_weights_are_cut_short_then_names_the_file(
    whisper_folder: Path, tmp_path: Path, kept_bytes: int
) -> None:
    folder = copy_of(whisper_folder, tmp_path / "model")
    with (folder / "model.bin").open("r+b") as file:
        file.truncate(kept_bytes)
    with pytest.raises(EngineError, match=r"model\.bin") as caught:
        load(create(BackendContext(lambda _: folder), ""))
    assert isinstance(caught.value, ModelLoadError | ModelFileError)
    assert caught.value.advice


def test_load_when_the_tokenizer_is_not_one_then_names_it(
    whisper_folder: Path, tmp_path: Path
) -> None:
    folder = copy_of(whisper_folder, tmp_path / "model")
    (folder / "tokenizer.json").write_text('{"version": "1.0"}')
    with pytest.raises(ModelFileError, match=r"tokenizer\.json"):
        load(create(BackendContext(lambda _: folder), ""))
