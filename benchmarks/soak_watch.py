"""What a real-time soak looks like while it goes on, and what is told of it."""

import os
from bisect import bisect_left
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psutil
import soundfile

from benchmarks.soak_report import Report
from engine.core.events import Event, FinalWords, Notice, Severity, UtteranceChanged, UtteranceState
from engine.session.health import Health

_ENDED = (UtteranceState.DONE, UtteranceState.CANCELLED, UtteranceState.FAILED)
_MARKS_MIN = (2, 10, 20)
_REACH_S = 0.1
_MAX_MOVE_MS = 5.0


@dataclass
class SoakWatch:
    """Takes down events, clocks and health.

    Args:
        own_words: of the texts that are spoken: whoever hears them, hears the loudspeaker.
    """

    own_words: tuple[str, ...]
    times_s: list[float] = field(default_factory=list)
    recorded_s: list[float] = field(default_factory=list)
    server_s: list[float] = field(default_factory=list)
    health: list[Health] = field(default_factory=list)
    num_threads: list[int] = field(default_factory=list)
    num_words: int = 0
    num_own_words: int = 0
    endings: list[UtteranceState] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)

    def take(self, event: Event) -> None:
        """Count what is told. Thread: events."""
        match event:
            case FinalWords(words=words):
                self.num_words += len(words)
                text = "".join(word.text for word in words).lower()
                self.num_own_words += sum(text.count(word) for word in self.own_words)
            case UtteranceChanged(state=state) if state in _ENDED:
                self.endings.append(state)
            case Notice(severity=severity, message=message) if severity is not Severity.INFO:
                self.troubles.append(f"{severity}: {message}")

    def look(self, now_s: float, recorded_s: float, server_s: float, health: Health) -> None:
        """Take down how it is now: three clocks at one moment, and the rest."""
        self.times_s.append(now_s)
        self.recorded_s.append(recorded_s)
        self.server_s.append(server_s)
        self.health.append(health)
        self.num_threads.append(psutil.Process().num_threads())

    def tell(self, report: Report, num_spoken: int) -> None:
        """Put it into a report."""
        newest = self.health[-1]
        wall_ppm, jitter_ms = _drift(self.times_s, self.recorded_s)
        drift_ppm, _ = _drift(self.server_s, self.recorded_s)
        backlogs_s = [max(h.recognizer_backlog_s, h.diarizer_backlog_s) for h in self.health]
        report.figure("load of the machine, 15 min", round(os.getloadavg()[2], 1))
        report.figure("overruns (microphone)", newest.num_overflows)
        report.figure("underruns (loudspeaker)", newest.num_underflows)
        report.figure("underruns of the sound system", newest.num_device_underflows)
        report.figure("audio lost, s", round(newest.lost_s, 3))
        report.figure("session clock against wall clock, ppm", round(wall_ppm, 1))
        report.figure("its jitter, ms", round(jitter_ms, 1))
        report.figure("session clock against the sound server's, ppm", round(drift_ppm, 1))
        report.figure(
            "texts spoken / to the end", f"{num_spoken} / {self.endings.count(_ENDED[0])}"
        )
        report.figure("words / of the loudspeaker's", f"{self.num_words} / {self.num_own_words}")
        report.figure("backlog, s: median, most", _spread(backlogs_s))
        report.figure(
            "delay of final words, s: median, most",
            _spread([h.final_delay_s or 0.0 for h in self.health]),
        )
        report.figure("resident memory, MB", self._marked([h.rss_bytes / 1e6 for h in self.health]))
        report.figure("threads", self._marked(self.num_threads))
        noise_ppm = 30_000 / (self.times_s[-1] - self.times_s[0])
        report.check("no overruns", newest.num_overflows == 0, newest.num_overflows)
        report.check("nothing lost", newest.lost_s == 0, newest.lost_s)
        report.check("clocks agree", abs(drift_ppm) < 100 + noise_ppm, drift_ppm)
        report.check("every text was spoken", len(self.endings) >= num_spoken - 1, self.endings)
        report.check("no trouble was told", not self.troubles, self.troubles)

    def _marked(self, values: list[float] | list[int]) -> str:
        begun_s, told = self.times_s[0], []
        for minutes in _MARKS_MIN:
            at = bisect_left(self.times_s, begun_s + 60 * minutes)
            if at < len(values):
                told.append(f"{values[at]:.0f} at {minutes} min")
        return f"{', '.join(told)}; most {max(values):.0f}"


def check_loops(report: Report, path: Path, loop_s: float) -> None:
    """Sound that is heard over and over lies in the recording where the time before says."""
    pcm, rate = soundfile.read(path, dtype="float32")
    loop, reach = round(loop_s * rate), round(_REACH_S * rate)
    moves_ms = [0.0]
    for start in range(2 * rate, len(pcm) - 2 * loop, loop):
        here, there = pcm[start : start + loop], pcm[start + loop : start + 2 * loop]
        match = np.fft.irfft(np.fft.rfft(there) * np.conj(np.fft.rfft(here)), loop)
        near = np.concatenate((match[-reach:], match[: reach + 1]))
        moves_ms.append(abs(int(near.argmax()) - reach) * 1000 / rate)
    report.figure("loops of the conversation, most moved, ms", round(max(moves_ms), 2))
    report.check("nothing moved in the recording", max(moves_ms) < _MAX_MOVE_MS, moves_ms)


def _drift(clock_s: list[float], recorded_s: list[float]) -> tuple[float, float]:
    """Return (ppm, ms) of the session clock against another: slope, and what is left of it."""
    skip = min(10, len(clock_s) // 4)
    times = np.array(clock_s[skip:]) - clock_s[0]
    error_s = np.array(recorded_s[skip:]) - times
    slope, offset = np.polyfit(times, error_s, 1)
    return 1e6 * float(slope), 1e3 * float(np.std(error_s - slope * times - offset))


def _spread(values: list[float]) -> str:
    return f"{np.median(values):.2f}, {max(values):.2f}"
