"""The adapter: what it says of itself, and its errors; no weights needed."""

import subprocess
import sys
from pathlib import Path

import pytest

from engine.backends.protocols import BackendContext
from engine.backends.whisper import create
from engine.core.errors import BackendError, CancelledError, ModelFileError, ModelMissingError
from engine.core.sync import CancelToken
from engine.core.types import BackendKind

pytestmark = pytest.mark.unit


def no_model(model_id: str) -> Path:
    raise ModelMissingError(f"There is no {model_id}.", advice="Fetch it.")


CONTEXT = BackendContext(no_model)


def test_spec_when_embedded_then_needs_the_manifest_model() -> None:
    spec = create(CONTEXT, "").spec
    assert spec.id == "whisper"
    assert spec.kinds == (BackendKind.RECOGNIZER,)
    assert spec.models == ("whisper-tiny.en",)
    assert spec.languages == ("en",)
    assert set(spec.capabilities) == {"partial", "word-times", "probability"}


def test_spec_when_a_folder_is_given_then_needs_no_manifest_model() -> None:
    spec = create(CONTEXT, "/some/whisper-small").spec
    assert spec.models == ()
    assert "whisper-small" in spec.title


def test_load_when_the_model_is_missing_then_the_store_error_comes_through() -> None:
    with pytest.raises(ModelMissingError, match=r"whisper-tiny\.en"):
        create(CONTEXT, "").load(lambda fraction, text: None, CancelToken())


def test_load_when_the_folder_holds_another_model_then_says_so(tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"PK")
    with pytest.raises(ModelFileError, match="pytorch_model"):
        create(CONTEXT, str(tmp_path)).load(lambda fraction, text: None, CancelToken())


def test_load_when_cancelled_then_stops() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        create(CONTEXT, "").load(lambda fraction, text: None, cancel)


def test_open_stream_when_not_loaded_then_refused() -> None:
    recognizer = create(CONTEXT, "")
    with pytest.raises(BackendError):
        recognizer.open_stream()
    recognizer.close()
    recognizer.close()


def test_create_when_nothing_is_loaded_then_imports_nothing_heavy() -> None:
    heavy = ("ctranslate2", "onnxruntime", "tokenizers", "av", "faster_whisper", "torch", "scipy")
    code = (
        "import sys; from engine.backends.protocols import BackendContext;"
        "from engine.backends.whisper import create;"
        "create(BackendContext(lambda _: None), '').spec;"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
