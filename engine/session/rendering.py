"""Speaks a text into a file instead of the loudspeaker."""

from collections.abc import Callable
from pathlib import Path

from engine.audio.wav import WavWriter
from engine.core.sync import CancelToken
from engine.session.session import Session


def render_to_wav(
    session: Session,
    text: str,
    path: Path,
    cancel: CancelToken,
    progress: Callable[[float], None] = lambda _: None,
) -> float:
    """Write `text`, spoken by the session's voice, to a WAV file, which replaces an older one.

    Args:
        session: its synthesizer is used; loaded if it is not yet.
        text: what to say.
        path: where to; a file of that name stays as it is until the new one is whole.
        cancel: ends the work; nothing is left behind.
        progress: called with the fraction of the text that is done.

    Returns:
        Seconds of speech.

    Raises:
        EngineError: there is no voice, the text cannot be spoken, or the file cannot be written.
        CancelledError: cancel was set.
    """
    spec, stream = session.open_voice(cancel)
    partial = path.with_name(f".{path.name}.part")
    try:
        writer = WavWriter(partial, spec.sample_rate)
        try:
            for chunk in stream.speak(text):
                cancel.check()
                writer.append(chunk.pcm)
                progress(chunk.text_end / max(1, len(text)))
        finally:
            writer.close()
        partial.replace(path)
        return writer.num_samples / spec.sample_rate
    finally:
        partial.unlink(missing_ok=True)
        stream.close()
