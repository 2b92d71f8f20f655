"""The checks of `vivavoce doctor`. What is heavy or can crash is tried in a child process."""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from engine.audio.device import DeviceInfo
from engine.audio.provider import SystemDevices
from engine.backends.registry import available
from engine.cli.exit_codes import FAILED, INPUT_PROBLEM, MODEL_MISSING
from engine.cli.preflight import needed_models, open_store
from engine.core.config import Settings, folders
from engine.core.errors import DeviceError
from engine.core.timebase import MonotonicClock
from engine.core.types import BackendKind
from engine.store.integrity import format_bytes
from engine.store.models import ModelState, size_text

_MIN_FREE_BYTES = 1_000_000_000
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


@dataclass(frozen=True, slots=True)
class Check:
    """What was found.

    Args:
        name: of what was looked at.
        is_ok: whether it will work.
        text: what was found, for people.
        advice: what to do if it will not work.
        exit_code: of the program if it will not work.
    """

    name: str
    is_ok: bool
    text: str
    advice: str = ""
    exit_code: int = FAILED


def check_all(settings: Settings, environment: Mapping[str, str]) -> Iterator[Check]:
    """Yield all checks, as they are done."""
    yield Check("python", True, f"{platform.python_version()} on {platform.platform(terse=True)}")
    yield check_window_library()
    yield check_display(environment)
    yield from check_audio()
    yield check_gpu()
    yield from check_models(settings, environment)
    yield from check_voices()
    yield check_disk(settings, environment)


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
        "There is no display; the window cannot open.",
        "Log in to a desktop, or use the commands: vivavoce listen.",
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
    """See that the models that the settings need are there."""
    store = open_store(settings, environment)
    needed = needed_models(settings, store)[0]
    for status in store.list():
        is_ok = status.state is ModelState.INSTALLED
        text = f"{status.entry.title}, {size_text(status.entry)}"
        if status.state is ModelState.MISSING and status.entry.id not in needed:
            yield Check("model", True, f"{text}: not installed, and not needed")
            continue
        yield Check(
            "model",
            is_ok,
            text if is_ok else f"{text}: {status.problem}",
            f"Run: vivavoce models pull {status.entry.id}",
            MODEL_MISSING,
        )


def check_voices() -> Iterator[Check]:
    """See which synthesizers can be had."""
    for listing in available(BackendKind.SYNTHESIZER):
        if listing.spec is None:
            yield Check("voice", False, f"{listing.id}: {listing.reason}")
        elif "test" not in listing.spec.capabilities:
            yield Check("voice", True, listing.spec.title)


def check_disk(settings: Settings, environment: Mapping[str, str]) -> Check:
    """See that recordings have room."""
    place = folders(settings, environment).sessions
    existing = next(path for path in (place, *place.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    if not os.access(existing, os.W_OK):
        return Check("disk", False, f"{existing} cannot be written.", "Check its owner.")
    text = f"{format_bytes(free)} free in {place}"
    return Check("disk", free >= _MIN_FREE_BYTES, text, "Make room for recordings.")


def _check_devices(name: str, found: list[DeviceInfo]) -> Check:
    if not found:
        return Check(name, False, "None is plugged in.", "Plug one in.", INPUT_PROBLEM)
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
