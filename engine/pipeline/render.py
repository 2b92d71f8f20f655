"""Renders one text on a thread of its own, ahead of what is being heard."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass

from engine.backends.protocols import SynthesizerStream
from engine.core.errors import BackendError, EngineError
from engine.core.unexpected import told
from engine.pipeline.kept_speech import KeptSpeech

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RenderPace:
    """How rendering is going.

    Args:
        busy_s: time the voice has worked; waiting for room is not counted.
        audio_s: speech that it made meanwhile.
        lateness_s: how much later than the first a piece came than it would have been needed, had
            the first been played at once.
        fraction: of the speech that is done, as the voice says; -1 where it does not.
    """

    busy_s: float = 0.0
    audio_s: float = 0.0
    lateness_s: float = 0.0
    fraction: float = -1.0


class Render:
    """A text being synthesized.

    Thread: made and closed by the speak thread; `pace` and errors may be asked by it at any time.

    Args:
        stream: the voice; closed by `close`.
        speech: where what it says goes.
        text: what to say.
        now_s: host time.
        on_change: called whenever there is more, or no more.
    """

    def __init__(
        self,
        stream: SynthesizerStream,
        speech: KeptSpeech,
        text: str,
        now_s: Callable[[], float],
        on_change: Callable[[], None],
    ) -> None:
        self._stream = stream
        self._speech = speech
        self._text = text
        self._now_s = now_s
        self._on_change = on_change
        self._error: Exception | None = None
        # NB: replaced by the render thread, read by the speak thread.
        self.pace = RenderPace()
        self._thread = threading.Thread(target=self._run, name="vivavoce-render", daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Raise what went wrong, if anything did.

        Raises:
            EngineError: synthesis failed.
        """
        error = self._error
        if isinstance(error, EngineError):
            raise error
        if error is not None:
            raise BackendError(
                f"The voice stopped: {told(error).text}",
                advice="Try again, or choose another voice.",
            ) from error

    def close(self) -> None:
        """Cancel what is not rendered yet and release the voice."""
        self._speech.abandon()
        self._stream.cancel()
        self._thread.join(timeout=10.0)
        if not self._thread.is_alive():
            self._stream.close()

    def _run(self) -> None:
        try:
            self._render()
        except EngineError as error:
            logger.debug("rendering ended", exc_info=True)
            self._error = error
        except Exception as error:
            logger.exception("rendering broke down")
            self._error = error
        finally:
            self._speech.finish()
            self._on_change()

    def _render(self) -> None:
        began_s = self._now_s()
        busy_s = audio_s = lateness_s = first_s = 0.0
        for chunk in self._stream.speak(self._text):
            busy_s += self._now_s() - began_s
            if audio_s == 0:
                first_s = busy_s
            lateness_s = max(lateness_s, busy_s - first_s - audio_s)
            audio_s += len(chunk.pcm) / self._speech.sample_rate
            self.pace = RenderPace(busy_s, audio_s, lateness_s, chunk.fraction)
            if not self._speech.put(chunk.pcm, chunk.text_start, chunk.text_end):
                return
            self._on_change()
            began_s = self._now_s()
