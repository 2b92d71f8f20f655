"""Finishes what a killed process left, and measures what of it is lost."""

import tempfile
import wave
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.crash_child import EDITS, LINES, RATE, SAMPLES, Mode, as_stored
from engine.core.events import FinalWords, WordsEdited
from engine.session.recorded_audio import find_audio
from engine.store.exporters.export import export
from engine.store.exporters.options import ExportFormat
from engine.store.library import SessionInfo, SessionLibrary, StoredSession

MAX_AUDIO_S = 1.0
MAX_LINES = 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """One kill.

    Args:
        mode: what the process was doing.
        recorded_s: seconds captured by then.
        audio_lost_s: captured and not in the file (text only: not in the session's length).
        lines_lost: lines told to the user and not in the journal; edits count as lines.
        was_closed: whether it had ended in order before it was killed.
        faults: whatever else is wrong; empty if nothing.
    """

    mode: Mode
    recorded_s: float
    audio_lost_s: float
    lines_lost: int
    was_closed: bool
    faults: tuple[str, ...]

    @property
    def is_good(self) -> bool:
        """Whether no more is lost than may be."""
        is_little = self.audio_lost_s <= MAX_AUDIO_S and self.lines_lost <= MAX_LINES
        return is_little and not self.faults


def check(mode: Mode, root: Path, known: frozenset[str], told: Counter[bytes]) -> Outcome:
    """Finish the session that is not among the known ones, and compare it with what was told."""
    library, captured = SessionLibrary(root), told[SAMPLES]
    new = [info for info in library.list() if info.id not in known]
    faults = [f"{len(new)} sessions"] if len(new) > 1 else []
    if any(info.is_active for info in new):
        faults.append("it counts as being recorded")
    was_closed = bool(new) and new[0].is_closed
    report = library.recover(new[0].id) if new else None
    if report is None or not report.is_there:
        lost_s = captured / RATE
        return Outcome(mode, lost_s, lost_s, told[LINES], was_closed, tuple(faults))
    stored = library.open(report.id)
    info = stored.info()
    if not info.is_closed or info.is_recovered == was_closed:
        faults.append("its state is wrong")
    num_samples = round(info.duration_s * RATE)
    if mode is Mode.TEXT:
        faults += ["its audio is still there"] if info.has_audio else []
    else:
        num_samples = _check_audio(stored, info, faults)
    events = list(stored.events())
    num_lines = sum(isinstance(event, FinalWords) for event in events)
    num_edits = sum(isinstance(event, WordsEdited) for event in events)
    _check_text(stored, faults)
    return Outcome(
        mode,
        captured / RATE,
        max(0, captured - num_samples) / RATE,
        max(0, told[LINES] - num_lines) + max(0, told[EDITS] - num_edits),
        was_closed,
        tuple(faults),
    )


def _check_audio(stored: StoredSession, info: SessionInfo, faults: list[str]) -> int:
    path = stored.audio_path
    if path is None:
        faults.append("its audio is not there")
        return 0
    with wave.open(str(path)) as file:
        num_frames = int(file.getnframes())
        pcm = np.frombuffer(file.readframes(num_frames), "<i2")
    if path.stat().st_size != 44 + 2 * num_frames or len(pcm) != num_frames:
        faults.append("its WAV header does not fit")
    if num_frames != round(info.duration_s * RATE):
        faults.append("its length is wrong")
    if not np.array_equal(pcm, as_stored(0, num_frames)):
        faults.append("its samples are wrong")
    audio = find_audio(None, stored.folder.parent, stored.header.id)
    if len(audio.read(0, num_frames)) != num_frames:
        faults.append("it cannot be played")
    audio.close()
    return num_frames


def _check_text(stored: StoredSession, faults: list[str]) -> None:
    document = stored.document()
    if stored.num_skipped:
        faults.append(f"{stored.num_skipped} lines are damaged")
    with tempfile.TemporaryDirectory() as folder:
        for export_format in ExportFormat:
            path = Path(folder) / f"out.{export_format}"
            export(document, export_format, path)
            # RTTM alone is empty where no speaker is certain yet.
            is_empty = not path.stat().st_size and export_format is not ExportFormat.RTTM
            if document.words and is_empty:
                faults.append(f"its {export_format} is empty")
