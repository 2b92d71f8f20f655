"""The cluster diarizer with its real models on real and synthetic speech."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray
from pyannote.core import Annotation, Segment, Timeline
from pyannote.metrics.diarization import DiarizationErrorRate

from engine.backends.cluster_diarizer import (
    TENTATIVE_ROWS,
    ClusterDiarizer,
    ClusterDiarizerStream,
    create,
)
from engine.backends.cluster_rows import FRAME_MS
from engine.backends.protocols import BackendContext
from engine.core.errors import BackendError, ModelMissingError
from engine.core.events import ActivityRevised, StreamEvent
from engine.core.resources import resource_path
from engine.core.types import Pcm
from tests.helpers.backends import blocks, demo_speech, load, make_context, no_models

pytestmark = [pytest.mark.integration, pytest.mark.models]

RATE = 16_000
LIBRIVOX = Path("/usr/share/pocketsphinx/test/data/librivox")


@pytest.fixture(scope="module")
def diarizer() -> Iterator[ClusterDiarizer]:
    backend = create(make_context())
    load(backend)
    yield backend
    backend.close()


@pytest.fixture(scope="module")
def demo() -> Pcm:
    return demo_speech(0.0, 60.0, RATE)


class Board:
    """The rows as a listener sees them; final rows may not change."""

    def __init__(self) -> None:
        self.rows: NDArray[np.float32] = np.zeros((0, 8), dtype=np.float32)
        self.final_until = 0
        self.num_flipped = 0

    def take(self, events: Sequence[StreamEvent]) -> None:
        for event in events:
            assert isinstance(event, ActivityRevised)
            assert self.final_until <= event.first_frame <= len(self.rows)
            end = event.first_frame + len(event.probabilities)
            before = self.rows[event.first_frame : end]
            after = event.probabilities[: len(before)]
            was_told = (before >= 0.5).any(axis=1)
            self.num_flipped += int((was_told & (before.argmax(1) != after.argmax(1))).sum())
            self.rows = np.concatenate(
                [self.rows[: event.first_frame], event.probabilities, self.rows[end:]]
            )
            assert event.final_until >= self.final_until
            self.final_until = event.final_until

    def speakers(self) -> list[int]:
        """Return the slots that speak for more than half a second."""
        return np.flatnonzero((self.rows >= 0.5).sum(axis=0) * FRAME_MS > 500).tolist()

    def annotation(self) -> Annotation:
        found = Annotation()
        frame_s = FRAME_MS / 1000
        for row, slot in np.argwhere(self.rows >= 0.5):
            found[Segment(row * frame_s, (row + 1) * frame_s), int(slot)] = int(slot)
        return found.support()


def run(stream: ClusterDiarizerStream, pcm: Pcm) -> Board:
    board = Board()
    for block in blocks(pcm, 3200):
        board.take(stream.push(block))
    board.take(stream.flush())
    assert board.final_until == len(board.rows)
    return board


def librivox() -> Pcm:
    files = sorted(LIBRIVOX.glob("*.wav"))
    if not files:
        pytest.skip("needs Debian's package pocketsphinx-testdata")
    return np.concatenate([soundfile.read(path, dtype="float32")[0] for path in files])


def test_demo_when_diarized_live_has_at_most_a_quarter_of_error(
    diarizer: ClusterDiarizer, demo: Pcm
) -> None:
    reference = Annotation()
    text = resource_path("demo/conversation.rttm").read_text()
    for i, fields in enumerate(map(str.split, text.splitlines())):
        start_s = float(fields[3])
        reference[Segment(start_s, start_s + float(fields[4])), i] = fields[7]
    board = run(diarizer.open_stream(), demo)
    error = DiarizationErrorRate(collar=0.0, skip_overlap=False)(
        reference, board.annotation(), uem=Timeline([Segment(0.0, len(demo) / RATE)])
    )
    assert error <= 0.25
    assert board.speakers() == [0, 1]
    assert board.num_flipped <= 0.1 * len(board.rows)


def test_one_reader_when_diarized_stays_one_speaker(diarizer: ClusterDiarizer) -> None:
    assert run(diarizer.open_stream(), librivox()).speakers() == [0]


@pytest.mark.parametrize("level", [0.0, 0.003])
def test_silence_and_noise_when_diarized_create_no_speaker(
    diarizer: ClusterDiarizer, level: float
) -> None:
    noise = np.random.default_rng(0).normal(scale=max(level, 1e-9), size=10 * RATE)
    board = run(diarizer.open_stream(), noise.astype(np.float32))
    assert len(board.rows) == 125
    assert np.all(board.rows < 0.5)


def test_one_short_word_when_it_is_all_there_is_gets_a_speaker(
    diarizer: ClusterDiarizer, demo: Pcm
) -> None:
    word = np.concatenate([np.zeros(RATE, np.float32), demo[8000:18_000]])
    assert run(diarizer.open_stream(), np.pad(word, (0, RATE))).rows.max() > 0.5


def test_rows_while_audio_comes_become_final_after_the_tentative_time(
    diarizer: ClusterDiarizer, demo: Pcm
) -> None:
    stream, board = diarizer.open_stream(), Board()
    for block in blocks(demo, 1600):
        board.take(stream.push(block))
        assert len(board.rows) - board.final_until <= TENTATIVE_ROWS
    assert board.final_until > 0


def test_flush_when_audio_goes_on_knows_the_voices_still(
    diarizer: ClusterDiarizer, demo: Pcm
) -> None:
    stream, board = diarizer.open_stream(), Board()
    for part in (demo, demo):
        for block in blocks(part, 8000):
            board.take(stream.push(block))
        board.take(stream.flush())
    assert board.final_until == len(board.rows) == -(-2 * len(demo) // 1280)
    half = len(demo) // 1280
    first, second = (board.rows[:half] >= 0.5), (board.rows[half : 2 * half] >= 0.5)
    assert np.mean(first.argmax(axis=1) == second.argmax(axis=1)) > 0.9


def test_load_when_the_model_is_missing_says_what_to_do() -> None:
    with pytest.raises(ModelMissingError):
        load(create(BackendContext(model_path=no_models)))


def test_create_when_given_an_argument_refuses_it() -> None:
    with pytest.raises(BackendError, match="no argument"):
        create(make_context(), "large")
