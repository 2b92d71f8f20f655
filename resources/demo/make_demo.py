"""Makes the demo conversation: conversation.flac, conversation.txt and conversation.rttm.

Run by hand, in a checkout with the extra "piper" and Debian's package flite installed:

    python resources/demo/make_demo.py

The same versions of both synthesizers give the same files, byte for byte: noise is switched off
in the one that has any. The times in the RTTM come from the placement of each sentence, after
silence around it is cut off by its energy.
"""

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import platformdirs
import soundfile
import soxr
from numpy.typing import NDArray
from piper import PiperVoice, SynthesisConfig

SAMPLE_RATE = 16_000
SPEECH_DBFS = -20.0
PEAK_LIMIT = 0.9
NOISE_DBFS = -72.0
"""A faint room, so that pauses are not digital silence, which no microphone gives."""
LEAD_S = 0.5
TAIL_S = 0.7
SEED = 2
OUTPUT = Path(__file__).parent
NAME = "conversation"


@dataclass(frozen=True)
class Sentence:
    """One sentence: who says it, and seconds from the end of the one before (negative: overlap)."""

    speaker: str
    text: str
    pause_s: float


SENTENCES = (
    Sentence("joe", "Good morning. What does this program do?", LEAD_S),
    Sentence("slt", "It writes down what people say, as they say it.", 0.35),
    Sentence("slt", "Every voice gets its own color, so you can see who said what.", 0.3),
    Sentence("joe", "And does my voice leave this computer?", 0.45),
    Sentence("slt", "Never. Everything happens on your own machine.", 0.3),
    Sentence("joe", "That is good to know. Can it also read a text to me?", 0.4),
    Sentence("slt", "Yes. Write a few words, choose a voice, and press the button.", -0.3),
    Sentence("joe", "Wonderful. And when do we start?", 0.45),
    Sentence("slt", "Right now. Press record, and say something.", 0.4),
)


def speak_joe(text: str) -> NDArray[np.float32]:
    """Return a sentence in the embedded piper voice, at `SAMPLE_RATE`."""
    folder = platformdirs.user_data_path("vivavoce") / "models" / "piper-en_US-joe-medium"
    voice = PiperVoice.load(folder / "en_US-joe-medium.onnx")
    quiet = SynthesisConfig(noise_scale=0.0, noise_w_scale=0.0)
    parts = [chunk.audio_float_array for chunk in voice.synthesize(text, quiet)]
    return _at_rate(np.concatenate(parts), voice.config.sample_rate)


def speak_slt(text: str) -> NDArray[np.float32]:
    """Return a sentence in flite's voice slt, at `SAMPLE_RATE`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sentence.wav"
        subprocess.run(["flite", "-voice", "slt", "-t", text, "-o", str(path)], check=True)
        samples, rate = soundfile.read(path, dtype="float32")
    return _at_rate(samples, rate)


def _at_rate(samples: NDArray[np.float32], rate: int) -> NDArray[np.float32]:
    return np.asarray(soxr.resample(samples, rate, SAMPLE_RATE), dtype=np.float32)


def trim(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """Cut off what lies more than 40 dB below the loudest 10 ms at either end."""
    step = SAMPLE_RATE // 100
    frames = samples[: len(samples) // step * step].reshape(-1, step)
    power = np.mean(frames.astype(np.float64) ** 2, axis=1)
    loud = np.flatnonzero(power > power.max() * 1e-4)
    return samples[loud[0] * step : (loud[-1] + 1) * step]


def level(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """Bring speech to `SPEECH_DBFS`, fade 5 ms at both ends, keep peaks under `PEAK_LIMIT`."""
    rms = float(np.sqrt(np.mean(samples.astype(np.float64) ** 2)))
    gain = 10 ** (SPEECH_DBFS / 20) / rms
    gain = min(gain, PEAK_LIMIT / float(np.abs(samples).max()))
    ramp = np.linspace(0, 1, SAMPLE_RATE // 200, dtype=np.float32)
    out = samples * np.float32(gain)
    out[: len(ramp)] *= ramp
    out[-len(ramp) :] *= ramp[::-1]
    return out


def main() -> None:
    """Write the three files beside this script."""
    speakers = {"joe": speak_joe, "slt": speak_slt}
    placed: list[tuple[int, Sentence, NDArray[np.float32]]] = []
    end = 0
    for sentence in SENTENCES:
        start = end + round(sentence.pause_s * SAMPLE_RATE)
        samples = level(trim(speakers[sentence.speaker](sentence.text)))
        placed.append((start, sentence, samples))
        end = start + len(samples)
    noise = np.random.default_rng(SEED).standard_normal(end + round(TAIL_S * SAMPLE_RATE))
    mix = noise * 10 ** (NOISE_DBFS / 20)
    for start, _, samples in placed:
        mix[start : start + len(samples)] += samples
    soundfile.write(OUTPUT / f"{NAME}.flac", mix, SAMPLE_RATE, subtype="PCM_16")
    lines = [f"{sentence.speaker}: {sentence.text}" for sentence in SENTENCES]
    (OUTPUT / f"{NAME}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    turns = [
        f"SPEAKER {NAME} 1 {start / SAMPLE_RATE:.3f} {len(samples) / SAMPLE_RATE:.3f}"
        f" <NA> <NA> {sentence.speaker} <NA> <NA>"
        for start, sentence, samples in placed
    ]
    (OUTPUT / f"{NAME}.rttm").write_text("\n".join(turns) + "\n", encoding="utf-8")
    print(f"{len(mix) / SAMPLE_RATE:.2f} s, peak {np.abs(mix).max():.2f}")


if __name__ == "__main__":
    main()
