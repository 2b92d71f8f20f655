"""Whose voice is whose: a bounded memory of voice windows and its clustering into speakers.

Follows the multi-stage scheme of Wang et al., "Highly efficient real-time streaming and fully
on-device speaker diarization with multi-stage clustering" (2022): few windows are clustered
agglomeratively, more of them spectrally (the library's turn-to-diarize configuration), and when
the memory is full its nearest windows are fused. The library's own streaming class keeps a label
for each window ever seen; here the memory holds at most `MAX_POINTS`.

Spectral clustering finds borders well but the number of voices badly while it has heard little,
so its clusters are taken as an upper bound and the alike ones are joined.
"""

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.types import MAX_SPEAKERS
from engine.models.ge2e import EMBEDDING_SIZE

MAX_POINTS = 96
_FUSED_POINTS = 64
_MIN_SPECTRAL_POINTS = 10
"""Below this the eigengap says nothing, and the library fails on the smallest inputs."""
_AGGLOMERATION_DISTANCE = 0.30
_SPLIT_DISTANCE = 0.36
"""Spectral clusters that hold more distant parts than this are split: the eigengap favours two."""

# Two clusters are one voice if their centroids' cosine exceeds a threshold. Clusters that hold
# little, or one of them little against the other, differ by chance and by what is being said: a
# clip of the same reader against the rest of the book comes down to 0.78. Well-filled halves of
# one voice stay above 0.89, and two voices on one telephone line come up to 0.88.
_JOIN_COSINE = 0.775
_JOIN_COSINE_PER_BALANCE = 0.25
_FULL_EVIDENCE = 8.0
_ESTABLISHED_WEIGHT = 6.0
_KEEP_APART_COSINE = 0.02
"""Voices that were told apart before must be this much more alike to become one again."""
_LONE_WINDOW_JOIN_COSINE = 0.62
"""A single window is a voice of its own only if it is far from all others."""

_RETURN_COSINE = 0.7
"""A voice that comes back after its cluster was lost is at least this near to what it was."""

Labels = NDArray[np.int64]
Embeddings = NDArray[np.float32]


@dataclass(slots=True)
class VoiceMemory:
    """What one stream remembers of voices; about 110 kB at most.

    Args:
        points: (N, 256) float32, N at most `MAX_POINTS`: windows, or means of fused ones, in
            order of first appearance.
        weights: (N,) float32, windows in each point.
        slots: (N,) int64, the speaker each was last given, -1 for none yet.
        centroids: (8, 256) float32, the newest direction of each slot ever used, length 1.
        is_used: (8,) bool, whether a slot was ever given.
        is_present: (8,) bool, whether it has points now.
        num_new: windows added since the last clustering.
    """

    points: Embeddings = field(
        default_factory=lambda: np.zeros((0, EMBEDDING_SIZE), dtype=np.float32)
    )
    weights: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, dtype=np.float32))
    slots: Labels = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    centroids: Embeddings = field(
        default_factory=lambda: np.zeros((MAX_SPEAKERS, EMBEDDING_SIZE), dtype=np.float32)
    )
    is_used: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(MAX_SPEAKERS, dtype=bool))
    is_present: NDArray[np.bool_] = field(
        default_factory=lambda: np.zeros(MAX_SPEAKERS, dtype=bool)
    )
    num_new: int = 0


class VoiceClusterer:
    """Clusters a `VoiceMemory`. Read-only settings; streams may share it."""

    def __init__(self) -> None:
        # Imported by name: scikit-learn, which spectralcluster brings along, has no types.
        self._agglomerative: Any = import_module("sklearn.cluster").AgglomerativeClustering

    def warm_up(self) -> None:
        """Import and run everything once, so that the first speech does not wait for it."""
        memory = VoiceMemory()
        for point in np.eye(EMBEDDING_SIZE, dtype=np.float32)[: 2 * _MIN_SPECTRAL_POINTS]:
            self.add(_unit(point + np.float32(0.05)), memory)
        self.cluster(memory)

    def add(self, embedding: Embeddings, memory: VoiceMemory) -> None:
        """Remember one window, (256,) float32 of length 1; fuse near ones if that is too many."""
        memory.points = np.concatenate([memory.points, embedding[np.newaxis]])
        memory.weights = np.append(memory.weights, np.float32(1.0))
        memory.slots = np.append(memory.slots, -1)
        memory.num_new += 1
        if len(memory.points) > MAX_POINTS:
            self._fuse(memory)

    def cluster(self, memory: VoiceMemory) -> None:
        """Give every point of `memory` a slot; slots stay with the points that had them."""
        memory.num_new = 0
        if len(memory.points) == 0:
            return
        labels = _keep_apart(self._split(memory.points), memory)
        labels = _join_alike(labels, memory)
        _assign_slots(labels, memory)

    def _split(self, points: Embeddings) -> Labels:
        """Return cluster labels, rather too many clusters than too few."""
        if len(points) < _MIN_SPECTRAL_POINTS:
            return self._agglomerate(points, distance=_AGGLOMERATION_DISTANCE)
        try:
            labels = np.asarray(_turn_to_diarize().predict(points), dtype=np.int64)
        except (UnboundLocalError, np.linalg.LinAlgError, ValueError):
            # The library's automatic tuning finds no setting for degenerate affinities, such as
            # those of windows that are all the same.
            return self._agglomerate(points, distance=_AGGLOMERATION_DISTANCE)
        for label in np.unique(labels):
            inside = labels == label
            finer = self._agglomerate(points[inside], distance=_SPLIT_DISTANCE)
            labels[inside] = np.where(finer == 0, label, labels.max() + finer)
        return labels

    def _agglomerate(self, points: Embeddings, *, distance: float) -> Labels:
        if len(points) < 2:
            return np.zeros(len(points), dtype=np.int64)
        model = self._agglomerative(
            n_clusters=None, metric="cosine", linkage="average", distance_threshold=distance
        )
        return np.asarray(model.fit_predict(points), dtype=np.int64)

    def _fuse(self, memory: VoiceMemory) -> None:
        """Replace the nearest points by their weighted means, down to `_FUSED_POINTS`."""
        model = self._agglomerative(n_clusters=_FUSED_POINTS, metric="cosine", linkage="complete")
        labels = _by_appearance(np.asarray(model.fit_predict(memory.points), dtype=np.int64))
        member = (labels == np.arange(_FUSED_POINTS)[:, np.newaxis]).astype(np.float32)
        member *= memory.weights
        slot_weights = member @ (memory.slots[:, np.newaxis] == np.arange(-1, MAX_SPEAKERS))
        memory.points = _unit(member @ memory.points)
        memory.weights = member.sum(axis=1)
        memory.slots = slot_weights.argmax(axis=1).astype(np.int64) - 1


def _turn_to_diarize() -> Any:
    """Return the library's turn-to-diarize clusterer, fresh: predicting changes its settings."""
    from spectralcluster import configs, refinement, spectral_clusterer

    return spectral_clusterer.SpectralClusterer(
        min_clusters=2,
        max_clusters=MAX_SPEAKERS,
        refinement_options=refinement.RefinementOptions(
            thresholding_soft_multiplier=0.01,
            thresholding_type=refinement.ThresholdType.Percentile,
            thresholding_with_binarization=True,
            thresholding_preserve_diagonal=True,
            symmetrize_type=refinement.SymmetrizeType.Average,
            refinement_sequence=list(configs.TURNTODIARIZE_REFINEMENT_SEQUENCE),
        ),
        autotune=configs.AutoTune(
            p_percentile_min=0.40, p_percentile_max=0.95, init_search_step=0.05, search_level=1
        ),
        laplacian_type=configs.LaplacianType.GraphCut,
        row_wise_renorm=True,
        custom_dist="cosine",
    )


def _unit(vectors: Embeddings) -> Embeddings:
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: Embeddings = (vectors / np.maximum(norms, 1e-12)).astype(np.float32)
    return scaled


def _by_appearance(labels: Labels) -> Labels:
    """Number labels from 0 in the order in which they first appear."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def _cluster_sums(labels: Labels, points: Embeddings, weights: NDArray[np.float32]) -> Embeddings:
    member = (labels == np.arange(labels.max() + 1)[:, np.newaxis]) * weights
    sums: Embeddings = (member @ points).astype(np.float32)
    return sums


def _keep_apart(labels: Labels, memory: VoiceMemory) -> Labels:
    """Split clusters along the slots their points had, so that only likeness joins two voices.

    The eigengap now finds two voices and now three in the same conversation; what was told apart
    once is kept apart. New points go with the nearest of the voices in their cluster.
    """
    result = labels.copy()
    told = np.where(_established(memory)[memory.slots], memory.slots, -1)
    for label in np.unique(labels):
        inside = np.flatnonzero(labels == label)
        slots = told[inside]
        known = np.unique(slots[slots >= 0])
        if len(known) < 2:
            continue
        centroids = _unit(np.stack([memory.points[inside][slots == k].mean(axis=0) for k in known]))
        nearest = known[(memory.points[inside] @ centroids.T).argmax(axis=1)]
        voice = np.where(slots >= 0, slots, nearest)
        result[inside] = np.where(voice == known[0], label, result.max() + 1 + voice)
    return _settle(result, memory.points)


def _established(memory: VoiceMemory) -> NDArray[np.bool_]:
    """Return which slots have been heard enough to be defended, (9,) bool, the last for none."""
    return np.append(_slot_totals(memory) >= _ESTABLISHED_WEIGHT, False)


def _slot_totals(memory: VoiceMemory) -> NDArray[np.float32]:
    totals: NDArray[np.float32] = _slot_weights(np.zeros_like(memory.slots), memory)[0]
    return totals


def _settle(labels: Labels, points: Embeddings) -> Labels:
    """Move points to the cluster whose centroid is nearest, twice.

    Spectral clusters of few points catch strays from large ones. Every point counts alike here:
    one that stands for many windows would pull the small cluster's centroid to itself.
    """
    for _ in range(2):
        labels = _by_appearance(labels)
        centroids = _unit(_cluster_sums(labels, points, np.ones(len(points), dtype=np.float32)))
        labels = (points @ centroids.T).argmax(axis=1)
    return labels


def _join_threshold(first: float, second: float) -> float:
    """Return the cosine above which clusters of these weights are one voice."""
    if min(first, second) < 2.0:
        return _LONE_WINDOW_JOIN_COSINE
    evidence = min(1.0, first * second / (first + second) / _FULL_EVIDENCE)
    balance = min(first, second) / (first + second)
    return _JOIN_COSINE + _JOIN_COSINE_PER_BALANCE * balance * evidence


def _join_alike(labels: Labels, memory: VoiceMemory) -> Labels:
    """Join the two most similar clusters as long as they are one voice, or too many."""
    labels = _by_appearance(labels)
    while (count := int(labels.max()) + 1) > 1:
        centroids = _unit(_cluster_sums(labels, memory.points, memory.weights))
        sizes = np.bincount(labels, weights=memory.weights, minlength=count)
        owned = _slot_weights(labels, memory)
        owners = np.where(owned.max(axis=1) >= _ESTABLISHED_WEIGHT, owned.argmax(axis=1), -1)
        pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
        cosines = centroids @ centroids.T
        excess = [
            cosines[i, j]
            - _join_threshold(sizes[i], sizes[j])
            - (_KEEP_APART_COSINE if -1 < owners[i] != owners[j] > -1 else 0.0)
            for i, j in pairs
        ]
        alike = [k for k, value in enumerate(excess) if value > 0.0]
        if not alike and count <= MAX_SPEAKERS:
            break
        first, second = max((pairs[k] for k in alike or range(len(pairs))), key=cosines.__getitem__)
        labels = _by_appearance(np.where(labels == second, first, labels))
    return labels


def _slot_weights(labels: Labels, memory: VoiceMemory) -> NDArray[np.float32]:
    """Return how many windows of each cluster had each slot, (clusters, 8) float32."""
    member = (labels == np.arange(labels.max() + 1)[:, np.newaxis]) * memory.weights
    weights: NDArray[np.float32] = member @ (
        memory.slots[:, np.newaxis] == np.arange(MAX_SPEAKERS)
    ).astype(np.float32)
    return weights


def _assign_slots(labels: Labels, memory: VoiceMemory) -> None:
    """Match clusters to slots so that as much speech as can be keeps its slot."""
    from scipy.optimize import linear_sum_assignment

    count = int(labels.max()) + 1
    centroids = _unit(_cluster_sums(labels, memory.points, memory.weights))
    kept = _slot_weights(labels, memory)
    # Where no speech decides: a slot that this voice had before, else the first one never used.
    likeness = np.maximum(0.0, centroids @ memory.centroids.T - _RETURN_COSINE)
    order = np.arange(count, 0, -1)[:, np.newaxis] * np.arange(MAX_SPEAKERS, 0, -1) * 1e-6
    score = kept + np.where(memory.is_used, 1e-2 * likeness, 1e-4 + order)
    rows, columns = linear_sum_assignment(score, maximize=True)
    slot_of = np.empty(count, dtype=np.int64)
    slot_of[rows] = columns
    memory.slots = slot_of[labels]
    memory.is_present = np.zeros(MAX_SPEAKERS, dtype=bool)
    memory.is_present[slot_of] = True
    memory.is_used = memory.is_used | memory.is_present
    memory.centroids = memory.centroids.copy()
    memory.centroids[slot_of] = centroids
