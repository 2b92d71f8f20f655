"""The checks of `vivavoce doctor`. What is heavy or can crash is tried in a child process."""

import platform
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import engine
from engine.audio.device import DeviceInfo
from engine.audio.provider import SystemDevices
from engine.backends.registry import available
from engine.cli.check import Check
from engine.cli.check_folders import check_disk, check_folders, check_recordings, check_settings
from engine.cli.exit_codes import BAD_ARGUMENTS, INPUT_PROBLEM, MODEL_MISSING
from engine.cli.preflight import needed_models, open_store
from engine.core.config import Settings
from engine.core.errors import ConfigError, DeviceError, EngineError
from engine.core.timebase import MonotonicClock
from engine.core.types import BackendKind
from engine.store.models import ModelState, size_text

_CHILD_TIMEOUT_S = 60.0
_WINDOW_PROBE = "from PySide6 import QtWidgets"
# One real kernel: a GPU that is listed can still be too old for the library, or broken.
_GPU_PROBE = """
import torch
if torch.cuda.is_available():
    x = torch.ones(8, 8, device="cuda")
    assert float((x @ x).sum()) == 512.0
    print(torch.cuda.get_device_name())
"""


def check_all(environment: Mapping[str, str]) -> Iterator[Check]:
    """Yield all checks, as they are done."""
    yield Check("vivavoce", True, engine.__version__)
    yield Check("python", True, f"{platform.python_version()} on {platform.platform(terse=True)}")
    checked, settings = check_settings(environment)
    yield checked
    yield check_window_library()
    yield check_display(environment)
    yield from check_audio()
    yield check_gpu()
    yield from check_models(settings, environment)
    yield from check_voices()
    yield from check_folders(settings, environment)
    yield check_disk(settings, environment)
    yield check_recordings(settings, environment)


def check_window_library() -> Check:
    """See that Qt is installed with the system libraries that it needs."""
    try:
        qt = version("PySide6-Essentials")
    except PackageNotFoundError:
        return Check("window", False, "PySide6 is not installed.", "Run: make run")
    problem = _run_child(_WINDOW_PROBE)[1]
    if problem:
        return Check("window", False, f"Qt {qt} does not load: {problem}.", "Run: make run")
    return Check("window", True, f"Qt {qt}")


def check_display(environment: Mapping[str, str]) -> Check:
    """See that there is somewhere to show a window."""
    if not sys.platform.startswith("linux"):
        return Check("display", True, sys.platform)
    for name in ("WAYLAND_DISPLAY", "DISPLAY"):
        if environment.get(name):
            return Check("display", True, f"{name}={environment[name]}")
    return Check(
        "display",
        False,
        "There is no display, so the window cannot open.",
        "Log in to a desktop, or use the commands, as vivavoce listen.",
        INPUT_PROBLEM,
    )


def check_audio() -> Iterator[Check]:
    """See that there is a microphone and a loudspeaker."""
    try:
        found = SystemDevices(MonotonicClock()).list_devices()
    except DeviceError as error:
        yield Check("audio", False, error.message, error.advice, INPUT_PROBLEM)
        return
    inputs = [device for device in found if device.num_inputs and not device.is_monitor]
    outputs = [device for device in found if device.num_outputs]
    yield _check_devices("microphone", inputs)
    yield _check_devices("loudspeaker", outputs)
    is_realtime = find_spec("rtmixer") is not None
    yield Check("callbacks", True, "in C (rtmixer)" if is_realtime else "in Python")


def check_gpu() -> Check:
    """See whether a GPU works. None is fine: the embedded models run on the CPU."""
    if find_spec("torch") is None:
        return Check("gpu", True, "torch is not installed; the models run on the CPU")
    name, problem = _run_child(_GPU_PROBE)
    if problem:
        return Check("gpu", True, f"not usable ({problem}); the models run on the CPU")
    return Check("gpu", True, name or "none; the models run on the CPU")


def check_models(settings: Settings, environment: Mapping[str, str]) -> Iterator[Check]:
    """See that the models that the settings need are there, and all that are there intact."""
    try:
        store = open_store(settings, environment)
        needed = needed_models(settings, store)[0]
    except ConfigError as error:
        yield Check("model", False, error.message, error.advice, BAD_ARGUMENTS)
        return
    for listed in store.list():
        status = listed
        text = f"{status.entry.title}, {size_text(status.entry)}"
        if status.state is ModelState.MISSING and status.entry.id not in needed:
            yield Check("model", True, f"{text}: not installed, and not needed")
            continue
        if status.state is ModelState.INSTALLED:
            try:
                store.path(status.entry.id)
            except EngineError as error:
                status = replace(status, problem=error.message)
            else:
                yield Check("model", True, text)
                continue
        yield Check(
            "model",
            False,
            f"The model {text}, cannot be used: {status.problem}",
            f"Run: vivavoce models pull {status.entry.id}",
            MODEL_MISSING,
        )


def check_voices() -> Iterator[Check]:
    """See which synthesizers can be had."""
    for listing in available(BackendKind.SYNTHESIZER):
        if listing.spec is None:
            yield Check("voice", False, listing.reason)
        elif "test" not in listing.spec.capabilities:
            yield Check("voice", True, listing.spec.title)


def _check_devices(name: str, found: list[DeviceInfo]) -> Check:
    if not found:
        return Check(name, False, f"There is no {name}.", "Plug one in.", INPUT_PROBLEM)
    return Check(name, True, ", ".join(device.name for device in found))


def _run_child(code: str) -> tuple[str, str]:
    """Run Python code apart; return (what it printed, what went wrong)."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            timeout=_CHILD_TIMEOUT_S,
            check=False,
            cwd=Path(sys.prefix),
        )
    except subprocess.TimeoutExpired:
        return "", f"no answer within {_CHILD_TIMEOUT_S:.0f} s"
    if done.returncode == 0:
        return done.stdout.strip(), ""
    lines = done.stderr.strip().splitlines()
    return "", lines[-1].rstrip(".") if lines else f"it ended with status {done.returncode}"
