"""Folders of Whisper models and files of voices that are damaged; needs the models' own files."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.hostile_case import Case, Expects, Run
from benchmarks.hostile_commands import RATE, command, tone
from engine.audio.wav import write_wav
from engine.core.config import folders, load_settings

_FILES = ("model.bin", "config.json", "tokenizer.json", "vocabulary.txt")


def cases(seed: int) -> Iterator[Case]:
    """Yield folders with one file altered each, and voices; none where no model is installed."""
    rng = np.random.default_rng(seed)
    models = folders(load_settings(os.environ), os.environ).models
    whisper = models / "whisper-tiny.en"
    if (whisper / "model.bin").is_file():
        for name, (file, change) in _whisper_changes(rng).items():
            yield Case("whisper", name, _whisper(whisper, file, change), Expects.REFUSED)
    for name, (model, config) in _voices(rng).items():
        yield Case("voices", name, _voice(model, config), Expects.REFUSED)


def _whisper_changes(rng: np.random.Generator) -> dict[str, tuple[str, Callable[[bytes], bytes]]]:
    noise = rng.bytes(5000)
    found: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
        f"model.bin cut at {share:.2%}": (
            "model.bin",
            lambda content, share=share: content[: round(share * len(content))],
        )
        for share in (0.0001, 0.01, 0.5, 0.99)
    }
    for file in _FILES:
        found |= {
            f"{file} empty": (file, lambda _: b""),
            f"{file} of noise": (file, lambda _: noise),
        }
    found |= {
        "config.json a list": ("config.json", lambda _: b"[1]"),
        "config.json deep": ("config.json", lambda _: b'{"a":' * 100_000),
        "tokenizer.json of another": ("tokenizer.json", lambda _: b'{"model": {"type": "x"}}'),
        "tokenizer.json deep": ("tokenizer.json", lambda _: b"[" * 100_000),
        "vocabulary.txt of one word": ("vocabulary.txt", lambda _: b"a\n"),
    }
    for at, size in ((4, 2), (24, 4), (40, 8)):
        found[f"model.bin with {size} bytes of 255 at {at}"] = (
            "model.bin",
            lambda content, at=at, size=size: content[:at] + b"\xff" * size + content[at + size :],
        )
    return found


def _whisper(source: Path, file: str, change: Callable[[bytes], bytes]) -> Callable[[Path], Run]:
    def prepare(folder: Path) -> Run:
        place = folder / "whisper"
        place.mkdir()
        for name in _FILES:
            if name == file:
                (place / name).write_bytes(change((source / name).read_bytes()))
            else:
                (place / name).symlink_to(source / name)
        path = folder / "sound.wav"
        write_wav(path, tone(1.0), RATE)
        recognizer = f"whisper:{place}"
        return command("transcribe", path, "--recognizer", recognizer, "--diarizer", "none")

    return prepare


def _voices(rng: np.random.Generator) -> dict[str, tuple[bytes, bytes]]:
    good = json.dumps({"audio": {"sample_rate": 22_050}, "espeak": {"voice": "en-us"}}).encode()
    noise = rng.bytes(3000)
    return {
        "an empty model": (b"", good), "a model of noise": (noise, good),
        "no settings": (noise, b""), "settings a list": (noise, b"[]"), "settings deep":
        (noise, b'{"a":' * 100_000), "settings of noise": (noise, noise),
        "a rate of 0": (noise, good.replace(b"22050", b"0")), "a rate of 10^30":
        (noise, good.replace(b"22050", b"9" * 30)), "phonemes from the network":
        (noise, b'{"phoneme_type": "pinyin"}'), "settings of 100 MB": (noise, b" " * 100 * 2**20),
    }  # fmt: skip


def _voice(model: bytes, config: bytes) -> Callable[[Path], Run]:
    def prepare(folder: Path) -> Run:
        path = folder / "voice.onnx"
        path.write_bytes(model)
        path.with_name("voice.onnx.json").write_bytes(config)
        return command("say", "Hello.", "-o", "out.wav", "--voice", f"piper:{path}")

    return prepare
