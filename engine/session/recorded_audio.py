"""Where the sound of recordings is: in memory, in a journal, or in a kept file."""

from pathlib import Path

from engine.audio.level_track import LevelTrack
from engine.audio.spans import AudioSpanReader
from engine.audio.timeline import AudioTimeline
from engine.core.config import KeepPolicy
from engine.core.errors import EngineError, StoreError
from engine.core.types import Pcm
from engine.pipeline.recorded_audio import RecordedAudio
from engine.session.kept_audio import KeptAudio
from engine.store.library import SessionLibrary

_KEEP_ADVICE = "Choose to keep audio and text before the next recording."


class WavAudio:
    """A kept recording, or one that is being written to a file that stays.

    Args:
        path: of a file of `engine.audio.wav.WavWriter`, or of a journal.
        sample_rate: Hz.
        held: what of it is not on the disk yet, if it is being written.

    Raises:
        StoreError: the file is not there.
    """

    def __init__(self, path: Path, sample_rate: int, held: KeptAudio | None = None) -> None:
        self.sample_rate = sample_rate
        self._held = held
        self._reader = AudioSpanReader(path)
        if not path.is_file():
            raise StoreError(
                f"The audio of this recording is not at {path} any more.",
                advice="It was deleted, or its disk is not there.",
            )

    @property
    def start(self) -> int:
        """Always 0."""
        return 0

    @property
    def end(self) -> int:
        """Samples there are now."""
        held_until = 0 if self._held is None else self._held.held_until
        return held_until or self._reader.num_samples

    def read(self, start: int, num_samples: int) -> Pcm:
        """See `RecordedAudio`."""
        end = start + num_samples
        pcm = None if self._held is None else self._held.read_held(start, end)
        return self._reader.read(start, end) if pcm is None else pcm

    def gone(self) -> EngineError:
        """See `RecordedAudio`."""
        return StoreError(
            "The file of this recording holds no audio.", advice="Its text can still be read."
        )

    def close(self) -> None:
        """Release the file; idempotent."""
        self._reader.close()


class TimelineAudio:
    """A recording whose audio does not stay on disk: as far as its timeline can read it.

    Args:
        timeline: of the running or last recording.
        keep: what of the recording stays.
    """

    def __init__(self, timeline: AudioTimeline, keep: KeepPolicy) -> None:
        self._timeline = timeline
        self._keep = keep

    @property
    def sample_rate(self) -> int:
        """Hz."""
        return self._timeline.sample_rate

    @property
    def start(self) -> int:
        """First sample that can be read."""
        return self._timeline.start

    @property
    def end(self) -> int:
        """One past the last sample recorded."""
        return self._timeline.end

    def read(self, start: int, num_samples: int) -> Pcm:
        """See `RecordedAudio`."""
        try:
            first, pcm = self._timeline.read(start, start + num_samples)
        except StoreError as error:
            if self._timeline.start > start:
                raise self.gone() from error
            raise
        if first > start:
            raise self.gone()
        return pcm

    def gone(self) -> EngineError:
        """See `RecordedAudio`."""
        if self.end == 0:
            return EngineError("Nothing has been recorded yet.")
        kept = "Only the text of this recording was kept"
        if self._keep is KeepPolicy.NOTHING:
            kept = "Nothing of this recording is kept"
        return EngineError(f"{kept}, so this moment cannot be heard any more.", advice=_KEEP_ADVICE)

    def close(self) -> None:
        """Nothing to release."""


class RecordingAudio:
    """The sound of a recording while it runs, and until the next one begins.

    Memory: what the timeline holds, dropped at the end if a file stays; and the levels.

    Thread: `end` from the control thread; any opens.

    Args:
        timeline: of the recording.
        levels: of the recording.
        kept: the journal's audio, None if there is none.
        keep: what of the recording stays.
    """

    def __init__(
        self,
        timeline: AudioTimeline,
        levels: LevelTrack,
        kept: KeptAudio | None,
        keep: KeepPolicy,
    ) -> None:
        self.levels = levels
        self._keep = keep
        self._kept = kept if keep is KeepPolicy.AUDIO_AND_TEXT else None
        # NB: dropped by the control thread, read by any.
        self._timeline: AudioTimeline | None = timeline

    def open(self) -> RecordedAudio:
        """Return its audio as it is now; the caller closes it.

        Raises:
            StoreError: its file was deleted.
        """
        # A file that stays is read by itself, so that nothing breaks when the recording ends.
        if self._kept is not None:
            return WavAudio(self._kept.path, self.levels.sample_rate, self._kept)
        assert self._timeline is not None, "a recording without a file keeps its timeline"
        return TimelineAudio(self._timeline, self._keep)

    def end(self) -> None:
        """The recording has ended and its journal is about to be closed."""
        timeline = self._timeline
        if timeline is not None:
            timeline.forget_disk()
        if self._kept is not None:
            self._timeline = None


def find_audio(newest: RecordingAudio | None, sessions_dir: Path, stored_id: str) -> RecordedAudio:
    """Return the audio of a stored session, or of the newest recording; the caller closes it.

    Args:
        newest: the running recording, or the one that ended last.
        sessions_dir: where sessions are stored.
        stored_id: of a stored session; empty for the newest recording.

    Raises:
        EngineError: there is no such recording, or none of its audio.
    """
    if not stored_id:
        if newest is None:
            raise EngineError("Nothing has been recorded yet.", advice="Record something first.")
        return newest.open()
    stored = SessionLibrary(sessions_dir).open(stored_id)
    if stored.audio_path is None:
        raise StoreError(
            "Only the text of this recording was kept, so it cannot be heard.", advice=_KEEP_ADVICE
        )
    return WavAudio(stored.audio_path, stored.header.sample_rate)
