"""Renders one text on a thread of its own, ahead of what is being heard."""

import logging
import threading
from collections import deque
from dataclasses import dataclass

import numpy as np

from engine.audio.resample import StreamResampler
from engine.backends.protocols import SynthesizerStream
from engine.core.errors import BackendError, EngineError
from engine.core.types import Pcm

logger = logging.getLogger(__name__)

MAX_AHEAD_S = 60.0
"""Speech rendered ahead at most; then the synthesizer waits."""


@dataclass(frozen=True, slots=True, eq=False)
class RenderedChunk:
    """Speech at the loudspeaker's rate, and the sentence it belongs to."""

    pcm: Pcm
    text_start: int
    text_end: int


class Render:
    """A text being synthesized and resampled.

    Thread: made and read by the speak thread; `close` from it, too. Errors of the synthesizer are
    raised to the reader once what came before them was taken.

    Args:
        stream: the voice; closed by `close`.
        from_rate: the voice's rate, Hz.
        to_rate: the loudspeaker's rate, Hz.
        text: what to say.
    """

    def __init__(self, stream: SynthesizerStream, from_rate: int, to_rate: int, text: str) -> None:
        self._stream = stream
        self._resampler = StreamResampler(from_rate, to_rate)
        self._text = text
        self._max_ahead = round(MAX_AHEAD_S * to_rate)
        self._chunks: deque[RenderedChunk] = deque()
        self._num_ready = 0
        self._is_finished = False
        self._is_cancelled = False
        self._error: Exception | None = None
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="vivavoce-render", daemon=True)
        self._thread.start()

    @property
    def is_drained(self) -> bool:
        """Whether everything was rendered and taken."""
        with self._changed:
            return self._is_finished and not self._chunks and self._error is None

    def is_ready(self, num_samples: int) -> bool:
        """Whether `num_samples`, or all there will be, wait to be taken."""
        with self._changed:
            return self._num_ready >= num_samples or self._is_finished

    def wait(self, timeout_s: float) -> None:
        """Block until something changes."""
        with self._changed:
            if not self._is_finished:
                self._changed.wait(timeout_s)

    def take(self, timeout_s: float) -> RenderedChunk | None:
        """Return the next chunk, or None on timeout or at the end.

        Raises:
            EngineError: synthesis failed.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._chunks or self._is_finished, timeout_s)
            if self._chunks:
                chunk = self._chunks.popleft()
                self._num_ready -= len(chunk.pcm)
                self._changed.notify_all()
                return chunk
            error, self._error = self._error, None
        if isinstance(error, EngineError):
            raise error
        if error is not None:
            raise BackendError(f"The voice failed: {error}.") from error
        return None

    def close(self) -> None:
        """Cancel what is not rendered yet and release the voice."""
        with self._changed:
            self._is_cancelled = True
            self._changed.notify_all()
        self._stream.cancel()
        self._thread.join(timeout=10.0)
        if not self._thread.is_alive():
            self._stream.close()

    def _run(self) -> None:
        start = end = 0
        try:
            for chunk in self._stream.speak(self._text):
                start, end = chunk.text_start, chunk.text_end
                if not self._put(self._resampler.push(chunk.pcm), start, end):
                    return
            self._put(self._resampler.flush(), start, end)
        except Exception as error:
            logger.debug("rendering ended", exc_info=True)
            self._error = error
        finally:
            with self._changed:
                self._is_finished = True
                self._changed.notify_all()

    def _put(self, pcm: Pcm, start: int, end: int) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: self._num_ready < self._max_ahead or self._is_cancelled)
            if self._is_cancelled:
                return False
            if len(pcm):
                self._chunks.append(RenderedChunk(np.ascontiguousarray(pcm), start, end))
                self._num_ready += len(pcm)
                self._changed.notify_all()
            return True
