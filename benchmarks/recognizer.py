"""Delay, errors and cost of the live recognizer: `python -m benchmarks.recognizer`.

Audio arrives at real time in blocks; while a push runs, later blocks wait, and the stream is told
how many, as the session's lane does. By default the time in which nothing would happen is skipped
(arrival is computed, work is measured): the same arithmetic in less time. `--real-time` waits.
"""

import argparse
import difflib
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import soundfile
from numpy.typing import NDArray

from engine.backends.protocols import BackendContext, PacedStream, Stream
from engine.backends.whisper import create
from engine.core.events import FinalWords, PartialWords
from engine.core.sync import CancelToken
from engine.core.types import Word
from engine.text.agreement import word_key

RATE = 16_000
LIBRIVOX = Path("/usr/share/pocketsphinx/test/data/librivox")
Pcm = NDArray[np.float32]


@dataclass(frozen=True)
class Passage:
    """Audio, what is said in it, and where its words end by the same model offline."""

    name: str
    pcm: Pcm
    text: str
    offline: tuple[Word, ...]


@dataclass
class LiveRun:
    """What a live pass over a passage showed, and when."""

    finals: list[Word] = field(default_factory=list)
    committed_s: list[float] = field(default_factory=list)
    shown_s: dict[tuple[int, str], float] = field(default_factory=dict)
    cpu_s: float = 0.0
    busy_s: float = 0.0
    worst_backlog_s: float = 0.0


def librivox() -> list[tuple[str, Pcm, str]]:
    """Return (name, audio, text) of pocketsphinx's five LibriVox sentences."""
    names = (LIBRIVOX / "fileids").read_text().split()
    lines = (LIBRIVOX / "transcription").read_text().splitlines()
    texts = [line.split("<s>")[1].split("</s>")[0].strip() for line in lines]
    return [
        (name, soundfile.read(LIBRIVOX / f"{name}.wav", dtype="float32")[0], text)
        for name, text in zip(names, texts, strict=True)
    ]


def offline_words(model: object, pcm: Pcm) -> tuple[Word, ...]:
    """Return what `WhisperModel.transcribe` reads in the whole of `pcm`."""
    segments, _ = model.transcribe(pcm, language="en", word_timestamps=True)  # type: ignore[attr-defined]
    return tuple(
        Word(w.word, round(w.start * RATE), round(w.end * RATE), w.probability)
        for segment in segments
        for w in segment.words
    )


def joined(parts: Sequence[Passage], name: str, gap_s: float) -> Passage:
    """Return the parts one after the other with silence between them."""
    gap = np.zeros(round(gap_s * RATE), dtype=np.float32)
    pcm: list[Pcm] = []
    words: list[Word] = []
    at = 0
    for part in parts:
        words += [Word(w.text, w.start + at, w.end + at, w.probability) for w in part.offline]
        pcm += [part.pcm, gap]
        at += len(part.pcm) + len(gap)
    return Passage(name, np.concatenate(pcm), " ".join(p.text for p in parts), tuple(words))


def run_live(stream: Stream, pcm: Pcm, *, block_s: float, is_real_time: bool) -> LiveRun:
    """Feed `pcm` as it would arrive and note when each word was shown and committed."""
    run = LiveRun()
    block = round(block_s * RATE)
    at, now_s = 0, 0.0
    started_s = time.perf_counter()
    cpu_s = time.process_time()
    while at < len(pcm):
        end = min(at + block, len(pcm))
        if is_real_time:
            time.sleep(max(0.0, end / RATE - (time.perf_counter() - started_s)))
            now_s = time.perf_counter() - started_s
        else:
            now_s = max(now_s, end / RATE)
        waiting = min(len(pcm), int(now_s / block_s) * block) - end
        run.worst_backlog_s = max(run.worst_backlog_s, waiting / RATE)
        if isinstance(stream, PacedStream):
            stream.set_backlog(max(0, waiting))
        began_s = time.perf_counter()
        events = stream.push(pcm[at:end])
        took_s = time.perf_counter() - began_s
        run.busy_s += took_s
        now_s = time.perf_counter() - started_s if is_real_time else now_s + took_s
        _note(run, events, now_s)
        at = end
    began_s = time.perf_counter()
    _note(run, stream.flush(), now_s + time.perf_counter() - began_s)
    run.cpu_s = time.process_time() - cpu_s
    return run


def _note(run: LiveRun, events: Sequence[object], now_s: float) -> None:
    for event in events:
        if isinstance(event, FinalWords):
            run.finals += event.words
            run.committed_s += [now_s] * len(event.words)
        elif isinstance(event, PartialWords):
            words = [*run.finals, *event.words]
            for i, word in enumerate(words):
                run.shown_s.setdefault((i, word_key(word.text)), now_s)


def delays(run: LiveRun, offline: Sequence[Word]) -> tuple[list[float], list[float]]:
    """Return (commit delay, first-shown delay) in seconds of each word that offline also read."""
    live_keys = [word_key(w.text) for w in run.finals]
    keys = [word_key(w.text) for w in offline]
    committed: list[float] = []
    shown: list[float] = []
    matcher = difflib.SequenceMatcher(a=live_keys, b=keys, autojunk=False)
    for i, j, size in matcher.get_matching_blocks():
        for k in range(size):
            end_s = offline[j + k].end / RATE
            committed.append(run.committed_s[i + k] - end_s)
            first = run.shown_s.get((i + k, live_keys[i + k]), run.committed_s[i + k])
            shown.append(min(first, run.committed_s[i + k]) - end_s)
    return committed, shown


def percentile(values: Sequence[float], q: float) -> float:
    return float(np.percentile(values, q)) if values else float("nan")


def error_rate(reference: str, words: Sequence[Word]) -> float:
    """Return the word error rate after Whisper's English normalization."""
    import jiwer
    from whisper_normalizer.english import EnglishTextNormalizer

    normalize = EnglishTextNormalizer()
    return float(jiwer.wer(normalize(reference), normalize("".join(w.text for w in words))))


def measure(
    passages: Sequence[Passage], open_stream: Callable[[], Stream], args: argparse.Namespace
) -> None:
    committed: list[float] = []
    shown: list[float] = []
    for passage in passages:
        stream = open_stream()
        run = run_live(
            stream, passage.pcm, block_s=args.block_ms / 1000, is_real_time=args.real_time
        )
        stream.close()
        commit, show = delays(run, passage.offline)
        committed += commit
        shown += show
        length_s = len(passage.pcm) / RATE
        print(
            f"{passage.name:12} {length_s:5.1f} s  commit p50 {percentile(commit, 50):5.2f} "
            f"p95 {percentile(commit, 95):5.2f}  shown p50 {percentile(show, 50):5.2f} "
            f"p95 {percentile(show, 95):5.2f}  "
            f"WER live {error_rate(passage.text, run.finals):6.2%} "
            f"offline {error_rate(passage.text, passage.offline):6.2%}  "
            f"CPU {run.cpu_s / length_s:4.2f} s/s  behind {run.worst_backlog_s:.1f} s"
        )
        if args.verbose:
            print("   live   ", "".join(w.text for w in run.finals))
            print("   offline", "".join(w.text for w in passage.offline))
    if committed:
        print(
            f"all: commit p50 {statistics.median(committed):.2f} "
            f"p95 {percentile(committed, 95):.2f}"
            f"  shown p50 {statistics.median(shown):.2f} p95 {percentile(shown, 95):.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, help="a CTranslate2 Whisper folder")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--block-ms", type=int, default=100)
    parser.add_argument("--real-time", action="store_true", help="wait for the audio to arrive")
    parser.add_argument(
        "--files", nargs="*", type=Path, default=[], help="WAV files with a .txt beside each"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="print the texts")
    args = parser.parse_args()

    from faster_whisper import WhisperModel
    from platformdirs import user_data_path

    folder = args.model or user_data_path("vivavoce") / "models" / "whisper-tiny.en"
    recognizer = create(
        BackendContext(lambda _: folder, num_threads=args.threads, now_s=time.perf_counter)
    )
    recognizer.load(lambda *_: None, CancelToken())
    model = WhisperModel(str(folder), device="cpu", compute_type="int8")
    read = (
        [
            Passage(name[-12:], pcm, text, offline_words(model, pcm))
            for name, pcm, text in librivox()
        ]
        if LIBRIVOX.is_dir()
        else []
    )
    passages = [*read, joined(read, "pauses 0.7 s", 0.7), joined(read * 2, "gaps 0.1 s", 0.1)]
    if args.files:
        passages = []
    for path in args.files:
        pcm, _ = soundfile.read(path, dtype="float32")
        text = path.with_suffix(".txt").read_text()
        passages.append(Passage(path.stem[-12:], pcm, text, offline_words(model, pcm)))
    measure(passages, recognizer.open_stream, args)
    stream = recognizer.open_stream()
    silence = run_live(
        stream, np.zeros(60 * RATE, dtype=np.float32), block_s=0.1, is_real_time=False
    )
    print(f"silence 60 s: {len(silence.finals)} words, CPU {silence.cpu_s / 60:.4f} s/s")


if __name__ == "__main__":
    main()
