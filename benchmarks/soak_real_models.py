"""A soak of a few virtual minutes with the real small models on the demo conversation."""

import os
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.soak_checks import check_document, check_run, check_threads, check_words
from benchmarks.soak_faults import EXPECTED_LOG, plan
from benchmarks.soak_log import watched_log
from benchmarks.soak_report import Report
from benchmarks.soak_run import Soak
from engine.backends import registry
from engine.core.config import Settings, folders, load_settings
from engine.core.types import Pcm
from engine.store.manifest import load_manifest
from engine.store.models import ModelStore
from tests.helpers.backends import demo_speech

_LOOP_S = 28.0
_INTERVAL_S = 12.0


def soak_real(minutes: float, seed: int) -> Report:
    """Record the conversation over and over for so long, a fault every 12 s."""
    loops: dict[int, Pcm] = {}

    def heard(rate: int, start: int, end: int) -> Pcm:
        if rate not in loops:
            loop = np.zeros(round(_LOOP_S * rate), np.float32)
            speech = demo_speech(0.0, _LOOP_S, rate)[: len(loop)]
            loop[: len(speech)] = speech
            loops[rate] = loop
        return loops[rate][np.arange(start, end) % len(loops[rate])]

    models = ModelStore(folders(load_settings(os.environ), os.environ).models, load_manifest())
    report = Report(f"{minutes:g} min at the virtual clock, the real small models, seed {seed}")
    with tempfile.TemporaryDirectory() as name, watched_log(EXPECTED_LOG) as log:
        folder = Path(name)
        settings = Settings(keep="audio-and-text")
        soak = Soak(folder, heard, registry.create, models.path, settings)
        with soak.session:
            seconds = minutes * 60
            soak.run(seconds, plan(seconds, _INTERVAL_S, seed), seed)
        check_run(report, soak, log.lines)
        check_words(report, soak, folder, has_pauses=True)
        check_document(report, soak, folder)
        check_threads(report)
        report.figure("text", soak.session.document.text()[:400])
    return report
