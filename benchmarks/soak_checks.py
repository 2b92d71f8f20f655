"""What must hold of a session after a soak."""

import threading
import tracemalloc
from collections import Counter
from pathlib import Path

import numpy as np

from benchmarks.soak_audio import identify
from benchmarks.soak_memory import SETTLED_HOURS, memory_slope
from benchmarks.soak_report import Report
from benchmarks.soak_run import Soak
from benchmarks.soak_signal import RATE, Tones
from engine.core.events import FinalWords
from engine.core.types import SpanKind
from engine.store.library import SessionLibrary, StoredSession
from engine.text.document import TranscriptDocument

MAX_SLOPE_MB = 10.0
"""Growth of memory an hour, transcript and speaker rows (about 5 MB) included."""
_MIN_HOURS = 1.0
_MAX_HOLE_S = 2.0
_MAX_OVERLAP_S = 0.35
_MAX_SHIFT_S = 0.15
_ROUNDING = 2e-3
_BAD_NOTICES = ("stopped:", "given up", "could not be filled in", "Speaking stopped", "ended")


def check_audio(report: Report, soak: Soak, folder: Path, tones: Tones) -> None:
    """Every sample is one that was heard, or lies in a gap that is drawn."""
    stored = _stored(folder)
    path = stored.audio_path
    assert path is not None
    document = soak.session.document
    found = identify(path, document.spans, tones)
    brought = sum(end - start for rate, start, end in soak.world.delivered if rate == RATE)
    report.figure("recorded, h", round(document.num_samples / RATE / 3600, 3))
    report.figure("samples that tell their index", found.num_exact)
    report.figure("samples of devices of another rate", found.num_tones)
    report.figure("samples in drawn gaps", found.num_gap)
    report.figure("brought by a device and within a gap", brought - found.num_exact)
    shifts = [abs(shift) / RATE for shift in found.shifts] or [0.0]
    report.figure("session clock moved at a gap, ms, at most", round(1000 * max(shifts), 2))
    report.check("every sample is one that was heard", not found.unknown, found.unknown[:5])
    report.check("nothing is missing outside drawn gaps", not found.unmarked, found.unmarked[:5])
    report.check("gaps are as long as what is missing", max(shifts) < _MAX_SHIFT_S, shifts)
    size = (path.stat().st_size - 44) // 2
    report.check("all of it is on disk", size == document.num_samples, size)


def check_words(report: Report, soak: Soak, folder: Path, *, has_pauses: bool = False) -> None:
    """Every word that was told is kept, and every stretch has words or is marked.

    Args:
        report: takes what was found.
        soak: is over.
        folder: of its recording.
        has_pauses: whether nobody speaks at times, so that not all has words.
    """
    stored = Counter(
        (word.start, word.end, hash(word.text))
        for event in _stored(folder).events()
        if isinstance(event, FinalWords)
        for word in event.words
    )
    told = Counter(zip(soak.words[::3], soak.words[1::3], soak.words[2::3], strict=True))
    report.figure("final words", told.total())
    report.check("every word told is stored", not told - stored, list(told - stored)[:5])
    report.check("every word stored was told", not stored - told, list(stored - told)[:5])
    if has_pauses:
        return
    holes, overlap_s = _holes(soak)
    report.figure("words that overlap, s, at most", round(overlap_s, 3))
    report.check("every stretch has words or is marked", not holes, holes[:5])
    report.check("no word is told twice", overlap_s < _MAX_OVERLAP_S, overlap_s)


def check_document(report: Report, soak: Soak, folder: Path) -> None:
    """What was kept is what was shown, and all of it is final."""
    session = _stored(folder)
    stored, live = session.document(), soak.session.document
    difference = _difference(stored, live)
    report.check("the stored document is the live one", difference == "", difference)
    report.check("no line of the journal is damaged", session.num_skipped == 0)
    report.check("the session is closed", session.header.is_closed)
    activity = live.activity
    num_frames = live.num_samples * 1000 // (RATE * max(1, activity.frame_ms))
    report.figure("speaker rows", activity.num_frames)
    report.figure("lines / words / speakers", _size(live))
    report.check(
        "speaker rows are final everywhere",
        activity.final_until == activity.num_frames and num_frames - activity.num_frames <= 2,
        (activity.final_until, activity.num_frames, num_frames),
    )
    left = [s for s in live.spans if s.kind is SpanKind.UNTRANSCRIBED]
    report.figure("untranscribed stretches left", len(left))


def check_run(report: Report, soak: Soak, log_lines: list[str]) -> None:
    """Nothing went wrong that was not to."""
    report.figure("faults", sum(soak.num_faults.values()))
    for name, count in sorted(soak.num_faults.items()):
        report.figure(f"  {name}", count)
    report.figure("events", soak.told.total())
    for name, count in soak.told.most_common():
        report.figure(f"  {name}", count)
    bad = [text for text in soak.notices if any(part in text for part in _BAD_NOTICES)]
    report.check("nothing was given up", not bad, bad)
    report.check("nothing unexpected in the log", not log_lines, log_lines)
    report.check("everybody kept step", soak.clock.num_late_steps == 0, soak.clock.num_late_steps)
    slope = memory_slope(soak.memory.points, SETTLED_HOURS)
    if slope is not None:
        report.figure("memory, MB an hour after ten minutes", round(slope, 2))
        report.figure("memory, MB at first / last", _ends(soak.memory.points))
        # Within less than an hour, what is told is how an allocator grows; traces take memory, too.
        if soak.memory.points[-1][0] >= _MIN_HOURS and not tracemalloc.is_tracing():
            report.check("memory is flat", slope < MAX_SLOPE_MB, slope)
    for line in soak.memory.growth():
        report.figure("  grew", line)


def check_threads(report: Report) -> None:
    """All threads have ended."""
    left = [t.name for t in threading.enumerate() if t.name.startswith("vivavoce")]
    report.check("all threads have ended", not left, left)


def _stored(folder: Path) -> StoredSession:
    library = SessionLibrary(folder)
    return library.open(library.list()[0].id)


def _holes(soak: Soak) -> tuple[list[tuple[float, float]], float]:
    """Return stretches (s) without words that nothing marks, and the longest overlap of two."""
    document = soak.session.document
    order = sorted(zip(soak.words[::3], soak.words[1::3], strict=True))
    marks = sorted(
        (s.start, s.end) for s in document.spans if s.kind in (SpanKind.UNTRANSCRIBED, SpanKind.GAP)
    )
    holes, overlap, reached = [], 0, 0
    for start, end in [*order, (document.num_samples, document.num_samples)]:
        overlap = max(overlap, min(reached, end) - start)
        covered = sum(max(0, min(b, start) - max(a, reached)) for a, b in marks)
        if start - reached - covered > _MAX_HOLE_S * RATE:
            holes.append((reached / RATE, start / RATE))
        reached = max(reached, end)
    return holes, overlap / RATE


def _difference(stored: TranscriptDocument, live: TranscriptDocument) -> str:
    """Return what is not the same, in a word; empty if all is."""
    if list(stored.words) != list(live.words):
        return "words"
    if list(stored.lines) != list(live.lines):
        return "lines"
    if stored.spans != live.spans:
        return f"spans: {set(stored.spans) ^ set(live.spans)}"
    if stored.speakers != live.speakers:
        return "speakers"
    names = [(d.speaker_name(s), d.speaker_color(s)) for d in (stored, live) for s in live.speakers]
    if names[: len(live.speakers)] != names[len(live.speakers) :]:
        return "names or colours"
    if stored.num_samples != live.num_samples:
        return f"length: {stored.num_samples}, {live.num_samples}"
    first, second = stored.activity, live.activity
    if first.num_frames != second.num_frames:
        return f"speaker rows: {first.num_frames}, {second.num_frames}"
    here, there = (a.rows(0, a.num_frames).astype(np.float32) for a in (first, second))
    return "" if np.allclose(here, there, atol=_ROUNDING) else "speaker rows"


def _size(document: TranscriptDocument) -> str:
    return f"{len(document.lines)} / {len(document.words)} / {len(document.speakers)}"


def _ends(memory: list[tuple[float, float]]) -> str:
    settled = [mb for hours, mb in memory if hours >= SETTLED_HOURS]
    return f"{settled[0]:.0f} / {settled[-1]:.0f}"
