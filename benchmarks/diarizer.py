"""Error, delay, cost and memory of the cluster diarizer: `python -m benchmarks.diarizer`.

Runs the demo conversation (or `--audio` with `--rttm`), then loops it for an hour of audio
(`--minutes`) and tells cost and memory minute by minute. OMP_NUM_THREADS=1 for steady figures.
"""

import argparse
import statistics
import time
from pathlib import Path

import numpy as np
import psutil
import soundfile
import soxr
from numpy.typing import NDArray
from platformdirs import user_data_path
from pyannote.core import Annotation, Segment, Timeline
from pyannote.metrics.diarization import DiarizationErrorRate

from engine.backends.cluster_diarizer import ClusterDiarizer, create
from engine.backends.cluster_rows import FRAME_MS
from engine.backends.protocols import BackendContext
from engine.core.events import ActivityRevised
from engine.core.resources import resource_path
from engine.core.sync import CancelToken

RATE = 16_000
BLOCK = 1600
Rows = NDArray[np.float32]


def read_audio(path: Path) -> NDArray[np.float32]:
    audio, rate = soundfile.read(path, dtype="float32", always_2d=True)
    return np.ascontiguousarray(soxr.resample(audio.mean(axis=1), rate, RATE), dtype=np.float32)


def read_rttm(path: Path) -> Annotation:
    reference = Annotation()
    for i, fields in enumerate(map(str.split, path.read_text().splitlines())):
        start_s = float(fields[3])
        reference[Segment(start_s, start_s + float(fields[4])), i] = fields[7]
    return reference


def annotate(rows: Rows) -> Annotation:
    found = Annotation()
    frame_s = FRAME_MS / 1000
    for row, slot in np.argwhere(rows >= 0.5):
        found[Segment(row * frame_s, (row + 1) * frame_s), int(slot)] = int(slot)
    return found.support()


def live_pass(diarizer: ClusterDiarizer, audio: NDArray[np.float32], reference: Annotation) -> None:
    stream = diarizer.open_stream()
    num_rows = len(audio) * 1000 // RATE // FRAME_MS + 2
    rows = np.zeros((num_rows, 8), dtype=np.float32)
    first = np.zeros_like(rows)
    delay_s = np.full(num_rows, np.nan)
    is_flipped = np.zeros(num_rows, dtype=bool)
    slowest_s, cpu_s, wall_s = 0.0, time.process_time(), time.perf_counter()
    for start in range(0, len(audio) + BLOCK, BLOCK):
        push_s = time.perf_counter()
        block = audio[start : start + BLOCK]
        events = stream.push(block) if len(block) else stream.flush()
        slowest_s = max(slowest_s, time.perf_counter() - push_s)
        now_s = min(start + BLOCK, len(audio)) / RATE
        for event in events:
            assert isinstance(event, ActivityRevised)
            for i, row in enumerate(event.probabilities, event.first_frame):
                if row.max() >= 0.5:
                    if np.isnan(delay_s[i]):
                        delay_s[i] = now_s - (i + 0.5) * FRAME_MS / 1000
                        first[i, row.argmax()] = 1.0
                    elif rows[i].max() >= 0.5 and rows[i].argmax() != row.argmax():
                        is_flipped[i] = True
                rows[i] = row
    cpu_s, wall_s = time.process_time() - cpu_s, time.perf_counter() - wall_s
    metric = DiarizationErrorRate(collar=0.0, skip_overlap=False)
    whole = Timeline([Segment(0.0, len(audio) / RATE)])
    parts = metric(reference, annotate(rows), uem=whole, detailed=True)
    shown = metric(reference, annotate(first), uem=whole)
    total = parts["total"]
    told = ~np.isnan(delay_s)
    print(
        f"DER {parts['diarization error rate']:.1%}"
        f" (missed {parts['missed detection'] / total:.1%},"
        f" false alarm {parts['false alarm'] / total:.1%},"
        f" confusion {parts['confusion'] / total:.1%}); as first shown"
        f" {shown:.1%}"
    )
    print(f"speakers {len(reference.labels())} -> {int((rows >= 0.5).any(axis=0).sum())}")
    print(
        f"label delay p50 {np.nanmedian(delay_s):.2f} s, p95 {np.nanpercentile(delay_s, 95):.2f} s;"
        f" rows whose label flipped {is_flipped[told].mean():.1%}"
    )
    seconds = len(audio) / RATE
    print(
        f"RTF {wall_s / seconds:.3f}, CPU-seconds a second {cpu_s / seconds:.3f},"
        f" slowest push {slowest_s * 1000:.0f} ms"
    )


def long_pass(diarizer: ClusterDiarizer, audio: NDArray[np.float32], minutes: float) -> None:
    stream = diarizer.open_stream()
    process = psutil.Process()
    cost: list[float] = []
    slots = np.zeros(8, dtype=np.int64)
    num_loops = max(2, round(minutes * 60 * RATE / len(audio)))
    memory_bytes = 0
    for loop in range(num_loops):
        cpu_s = time.process_time()
        for start in range(0, len(audio), BLOCK):
            for event in stream.push(audio[start : start + BLOCK]):
                assert isinstance(event, ActivityRevised)
                slots += (event.probabilities >= 0.5).sum(axis=0)
        cost.append((time.process_time() - cpu_s) / (len(audio) / RATE))
        if loop == num_loops // 10:
            memory_bytes = process.memory_info().rss
    grown_bytes = process.memory_info().rss - memory_bytes
    tenth = max(1, num_loops // 10)
    print(
        f"{num_loops * len(audio) / RATE / 60:.0f} min: CPU-seconds a second"
        f" {statistics.mean(cost[:tenth]):.3f} in the first tenth,"
        f" {statistics.mean(cost[-tenth:]):.3f} in the last;"
        f" memory grew {grown_bytes / 1e6:.1f} MB after the first tenth"
    )
    print("rows told a slot:", slots.tolist())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--audio", type=Path, default=resource_path("demo/conversation.flac"))
    parser.add_argument("--rttm", type=Path, default=resource_path("demo/conversation.rttm"))
    parser.add_argument("--minutes", type=float, default=60.0)
    arguments = parser.parse_args()
    models = user_data_path("vivavoce", appauthor=False) / "models"
    diarizer = create(BackendContext(model_path=lambda model_id: models / model_id))
    load_s = time.perf_counter()
    diarizer.load(lambda fraction, text: None, CancelToken())
    print(f"loaded in {time.perf_counter() - load_s:.1f} s")
    audio = read_audio(arguments.audio)
    live_pass(diarizer, audio, read_rttm(arguments.rttm))
    if arguments.minutes > 0:
        long_pass(diarizer, audio, arguments.minutes)


if __name__ == "__main__":
    main()
