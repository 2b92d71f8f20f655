"""Checks that every sample of a soak's recording is one that the microphone heard, in order."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.soak_signal import PERIOD, RATE, Counts, Tones, decoded
from engine.audio.wav import HEADER_BYTES
from engine.core.events import SpanMarked
from engine.core.types import SpanKind

_MIN_RUN = 160
"""Fewer samples in a row that tell the time are chance."""
_EDGE = 640
"""Samples that a resampler's filter bends where a device begins or ends."""
_MAX_RESIDUAL = 0.02


@dataclass
class Identified:
    """What a recording is made of, in samples.

    Args:
        num_exact: that tell their own index, in order.
        num_tones: of a device of another rate, each as it was heard at its time.
        num_gap: drawn as lost.
        unknown: stretches that are none of these.
        unmarked: places where samples are missing and no gap or pause is drawn.
        shifts: by how much the session clock moved against the world at each gap, and over each
            stretch of another rate.
    """

    num_exact: int = 0
    num_tones: int = 0
    num_gap: int = 0
    unknown: list[tuple[int, int]] = field(default_factory=list)
    unmarked: list[tuple[int, int]] = field(default_factory=list)
    shifts: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Run:
    start: int
    end: int
    world: int  # index of its first sample, modulo PERIOD


def identify(path: Path, spans: Sequence[SpanMarked], tones: Tones) -> Identified:
    """Return what each sample of a recording is."""
    pcm = np.memmap(path, dtype="<i2", mode="r", offset=HEADER_BYTES)
    gaps = _merged([s for s in spans if s.kind is SpanKind.GAP])
    pauses = {s.start for s in spans if s.kind is SpanKind.PAUSE}
    found = Identified(num_gap=sum(end - start for start, end in gaps))
    breaks = sorted({0, len(pcm), *pauses, *(edge for gap in gaps for edge in gap)})
    inside = {start for start, _ in gaps}
    before: _Run | None = None
    for start, end in pairwise(breaks):
        if start in pauses:
            before = None  # the world went on meanwhile
        if start in inside:
            if np.any(pcm[start:end]):
                found.unknown.append((start, end))
            continue
        before = _take_stretch(pcm, start, end, tones, found, before)
    return found


def _take_stretch(
    pcm: NDArray[np.int16],
    start: int,
    end: int,
    tones: Tones,
    found: Identified,
    before: _Run | None,
) -> _Run | None:
    """Identify a stretch without gaps and pauses; return its last run of exact samples."""
    at, last = start, None
    for run in _exact_runs(pcm, start, end):
        found.num_exact += run.end - run.start
        if at < run.start:
            _take_tones(pcm, at, run.start, tones, found)
        elif last is not None and (run.world - last.world - (run.start - last.start)) % PERIOD:
            found.unmarked.append((last.end, run.start))
        if before is not None:
            shift = (run.world - before.world - (run.start - before.start)) % PERIOD
            found.shifts.append(shift if shift < PERIOD // 2 else shift - PERIOD)
        at, last, before = run.end, run, None
    if at < end:
        _take_tones(pcm, at, end, tones, found)
    return last


def _exact_runs(pcm: NDArray[np.int16], start: int, end: int) -> list[_Run]:
    """Return the stretches in which each sample tells the index after the one before."""
    if end - start < _MIN_RUN:
        told = decoded(np.asarray(pcm[start:end]))
        is_one = len(told) > 0 and bool(np.all(np.diff(told) % PERIOD == 1))
        return [_Run(start, end, int(told[0]))] if is_one else []
    told = decoded(np.asarray(pcm[start:end]))
    cuts: Counts = np.flatnonzero(np.diff(told) % PERIOD != 1) + 1
    edges = [0, *cuts.tolist(), len(told)]
    return [
        _Run(start + a, start + b, int(told[a])) for a, b in pairwise(edges) if b - a >= _MIN_RUN
    ]


def _take_tones(
    pcm: NDArray[np.int16], start: int, end: int, tones: Tones, found: Identified
) -> None:
    """Identify samples of a device of another rate by the sound of its time."""
    if end - start <= 2 * _EDGE:
        # Too short to be told from the bends of a filter.
        found.num_tones += end - start
        return
    size = RATE // 2
    for at in range(start + _EDGE, end - _EDGE - size + 1, size):
        piece = np.asarray(pcm[at : at + size]) / 32767.0
        if not _is_heard(piece, tones):
            found.unknown.append((at, at + size))
    found.num_tones += end - start


def _is_heard(piece: NDArray[np.float64], tones: Tones) -> bool:
    """Whether a piece is nothing but the tones, without a seam. When it was, the runs tell."""
    t = np.arange(len(piece)) / RATE
    basis = np.concatenate(
        (
            np.sin(2 * np.pi * t[:, None] * tones.hertz),
            np.cos(2 * np.pi * t[:, None] * tones.hertz),
        ),
        axis=1,
    )
    weights, *_ = np.linalg.lstsq(basis, piece, rcond=None)
    residual = piece - basis @ weights
    level = np.sqrt(np.mean(piece**2))
    return bool(level > 0.01 and np.sqrt(np.mean(residual**2)) < _MAX_RESIDUAL * level)


def _merged(spans: list[SpanMarked]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted((s.start, s.end) for s in spans if s.end > s.start):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged
