from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.backends.cluster_voices import MAX_POINTS, VoiceClusterer, VoiceMemory
from engine.core.types import MAX_SPEAKERS

pytestmark = pytest.mark.unit


class Voices:
    """Made-up voices: windows of one have a cosine of about 0.85, of two about 0.45."""

    def __init__(self, seed: int = 0) -> None:
        self._random = np.random.default_rng(seed)
        self._centres: dict[int, NDArray[np.float64]] = {}

    def window(self, voice: int) -> NDArray[np.float32]:
        if voice not in self._centres:
            centre = np.abs(self._random.normal(size=256)) * (self._random.random(256) < 0.7)
            self._centres[voice] = centre / np.linalg.norm(centre)
        noise = np.abs(self._random.normal(size=256))
        vector = self._centres[voice] + 0.45 * noise / np.linalg.norm(noise)
        return (vector / np.linalg.norm(vector)).astype(np.float32)


def hear(
    turns: Sequence[tuple[int, int]],
    memory: VoiceMemory,
    voices: Voices,
    clusterer: VoiceClusterer,
) -> None:
    """Add turns of (voice, windows) and cluster after each."""
    for voice, num_windows in turns:
        for _ in range(num_windows):
            clusterer.add(voices.window(voice), memory)
        clusterer.cluster(memory)


def slot(voice: int, memory: VoiceMemory, voices: Voices) -> int:
    """Return the slot that a new window of a voice is nearest to."""
    likeness = memory.centroids @ voices.window(voice)
    return int(np.where(memory.is_present, likeness, -1.0).argmax())


@pytest.fixture(scope="module")
def clusterer() -> VoiceClusterer:
    return VoiceClusterer()


def test_cluster_when_nothing_was_heard_knows_no_voice(clusterer: VoiceClusterer) -> None:
    memory = VoiceMemory()
    clusterer.cluster(memory)
    assert not memory.is_present.any()


@pytest.mark.parametrize("num_windows", [1, 2, 5, 12, 50])
def test_cluster_when_one_voice_speaks_stays_with_one_slot(
    clusterer: VoiceClusterer, num_windows: int
) -> None:
    memory, voices = VoiceMemory(), Voices()
    for _ in range(num_windows):
        hear([(0, 1)], memory, voices, clusterer)
        assert memory.is_present.tolist() == [True] + [False] * 7


def test_cluster_when_all_windows_are_equal_stays_with_one_slot(clusterer: VoiceClusterer) -> None:
    memory = VoiceMemory()
    window = Voices().window(0)
    for _ in range(40):
        clusterer.add(window, memory)
        clusterer.cluster(memory)
    assert memory.is_present.sum() == 1


@pytest.mark.parametrize("num_voices", [2, 3, 5, 8])
def test_cluster_when_voices_take_turns_gives_slots_in_order_of_appearance(
    clusterer: VoiceClusterer, num_voices: int
) -> None:
    memory, voices = VoiceMemory(), Voices()
    hear([(v, 6) for v in range(num_voices)], memory, voices, clusterer)
    hear([(v, 4) for v in reversed(range(num_voices))], memory, voices, clusterer)
    assert [slot(v, memory, voices) for v in range(num_voices)] == list(range(num_voices))
    assert memory.is_present.sum() == num_voices


def test_cluster_when_a_conversation_is_long_keeps_slots_and_a_bounded_memory(
    clusterer: VoiceClusterer,
) -> None:
    memory, voices = VoiceMemory(), Voices()
    for _ in range(25):
        hear([(0, 5), (1, 7), (2, 4)], memory, voices, clusterer)
        assert len(memory.points) <= MAX_POINTS
        assert [slot(v, memory, voices) for v in range(3)] == [0, 1, 2]
    assert memory.weights.sum() == 25 * 16


def test_cluster_when_a_voice_was_silent_for_long_still_knows_it(
    clusterer: VoiceClusterer,
) -> None:
    memory, voices = VoiceMemory(), Voices()
    hear([(0, 6), (1, 4)] + [(0, 10)] * 30, memory, voices, clusterer)
    hear([(1, 3)], memory, voices, clusterer)
    assert [slot(0, memory, voices), slot(1, memory, voices)] == [0, 1]
    assert memory.is_used.sum() == 2


def test_cluster_when_there_are_more_voices_than_slots_stays_within_them(
    clusterer: VoiceClusterer,
) -> None:
    memory, voices = VoiceMemory(), Voices()
    hear([(v, 5) for v in range(MAX_SPEAKERS + 4)], memory, voices, clusterer)
    assert memory.is_present.sum() >= 6
    assert np.all((memory.slots >= 0) & (memory.slots < MAX_SPEAKERS))


def test_cluster_when_a_cluster_was_lost_and_returns_gives_its_slot_back(
    clusterer: VoiceClusterer,
) -> None:
    memory, voices = VoiceMemory(), Voices()
    hear([(0, 6), (1, 6), (2, 6)], memory, voices, clusterer)
    is_kept = memory.slots != 1
    memory.points, memory.slots = memory.points[is_kept], memory.slots[is_kept]
    memory.weights = memory.weights[is_kept]
    hear([(0, 1)], memory, voices, clusterer)
    assert not memory.is_present[1]
    hear([(3, 6), (1, 6)], memory, voices, clusterer)
    assert [slot(v, memory, voices) for v in range(4)] == [0, 1, 2, 3]


def test_cluster_when_run_twice_changes_nothing(clusterer: VoiceClusterer) -> None:
    memory, voices = VoiceMemory(), Voices()
    hear([(0, 8), (1, 8)], memory, voices, clusterer)
    before = memory.slots.copy()
    clusterer.cluster(memory)
    assert np.array_equal(memory.slots, before)
