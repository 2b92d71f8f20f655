"""Guards of a reading: loops are read again, cut, and never trusted; silence says nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from engine.backends.whisper_policy import LivePolicy
from engine.backends.whisper_reader import Reading, WindowReader
from engine.core.types import Pcm
from engine.models.whisper_decoder import MAX_FRAMES, DecodedWord, Hypothesis

pytestmark = pytest.mark.unit

RATE = 16_000


def words(text: str) -> tuple[DecodedWord, ...]:
    pieces = text.split()
    return tuple(
        DecodedWord(f" {piece}", (sum(piece.encode()),), 4800 + 1600 * i, 6400 + 1600 * i, 0.9)
        for i, piece in enumerate(pieces)
    )


@dataclass
class Answers:
    """Gives the next hypothesis on each call; the last one for ever."""

    hypotheses: list[Hypothesis]
    frames: list[int] = field(default_factory=list)
    contexts: list[tuple[int, ...]] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)

    def decode(
        self,
        pcm: Pcm,
        *,
        num_frames: int,
        prefix: Sequence[DecodedWord] = (),
        context: Sequence[int] = (),
        language: str | None = None,
        beam_size: int = 1,
    ) -> Hypothesis:
        self.frames.append(num_frames)
        self.contexts.append(tuple(context))
        self.lengths.append(len(pcm))
        return self.hypotheses.pop(0) if len(self.hypotheses) > 1 else self.hypotheses[0]


def read(decoder: Answers, *, seconds: float = 2.0, prefix: str = "") -> Reading:
    return WindowReader(decoder, LivePolicy()).read(
        np.zeros(round(seconds * RATE), dtype=np.float32),
        prefix=words(prefix),
        context=[1, 2, 3],
        language=None,
        beam_size=1,
    )


def text(reading: Reading) -> str:
    return "".join(word.text for word in reading.words).strip()


def test_read_when_all_is_well_then_words_at_samples_of_the_window() -> None:
    decoder = Answers([Hypothesis(words("all is well"))])
    reading = read(decoder)
    assert text(reading) == "all is well"
    assert reading.is_trusted
    assert reading.words[0].start == 4800 - LivePolicy().lead
    assert decoder.lengths == [2 * RATE + LivePolicy().lead]


@pytest.mark.parametrize("seconds", [0.1, 5.0, 12.0, 13.9])
def test_read_when_a_window_is_encoded_then_silence_is_behind_it(seconds: float) -> None:
    decoder = Answers([Hypothesis(words("well"))])
    read(decoder, seconds=seconds)
    policy = LivePolicy()
    frames = decoder.frames[0]
    assert frames >= policy.min_frames
    assert frames % policy.frame_quantum == 0
    assert frames * 160 >= seconds * RATE + policy.padding


def test_read_when_the_first_try_loops_then_the_second_is_taken() -> None:
    looping = Hypothesis(words("yes yes yes yes yes yes yes yes"))
    decoder = Answers([looping, Hypothesis(words("yes indeed"))])
    reading = read(decoder)
    assert text(reading) == "yes indeed"
    assert reading.is_trusted
    assert decoder.frames[1] == MAX_FRAMES
    assert decoder.contexts == [(1, 2, 3), ()]


def test_read_when_every_try_loops_then_one_round_and_no_trust() -> None:
    decoder = Answers([Hypothesis(words("so some fresh basil" + " some fresh basil" * 6))])
    reading = read(decoder)
    assert text(reading) == "so some fresh basil"
    assert not reading.is_trusted


def test_read_when_the_loop_runs_inside_one_word_then_the_word_is_not_told() -> None:
    looping = DecodedWord(" s-y-y-y-y-y-y", (7, 8, 9, 8, 9, 8, 9, 8, 9, 8, 9), 0, 1600, 0.9)
    decoder = Answers([Hypothesis((*words("an old"), looping))])
    reading = read(decoder)
    assert text(reading) == "an old"
    assert not reading.is_trusted


def test_read_when_the_loop_goes_on_from_the_prefix_then_nothing_new() -> None:
    decoder = Answers([Hypothesis(words("fresh basil fresh basil fresh basil"))])
    reading = read(decoder, prefix="some fresh basil")
    assert not reading.is_trusted
    assert text(reading) == ""


@pytest.mark.parametrize(
    ("no_speech", "log_probability", "expected"),
    [
        (0.1, -0.2, "thank you"),
        (0.3, -1.3, "thank you"),  # a short word spoken indistinctly
        (0.9, -1.2, ""),
        (0.8, -0.6, ""),
        (0.9, -0.1, "thank you"),
        (0.2, -2.3, ""),
    ],
)
def test_read_when_the_model_doubts_then_it_depends_on_both_its_doubts(
    no_speech: float, log_probability: float, expected: str
) -> None:
    hypothesis = Hypothesis(words("thank you"), "en", no_speech, log_probability)
    assert text(read(Answers([hypothesis]))) == expected
