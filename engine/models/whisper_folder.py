"""Tells whether a folder holds a Whisper model converted for CTranslate2, before it is opened."""

import json
from pathlib import Path

from engine.core.errors import ModelFileError, ModelMissingError, reason_of
from engine.core.files import read_small

_FILES = ("model.bin", "config.json", "tokenizer.json")
_VOCABULARIES = ("vocabulary.txt", "vocabulary.json")
_FOREIGN = ("pytorch_model.bin", "model.safetensors", "ggml-model.bin", "model.onnx")
_MAX_JSON_BYTES = 64 * 2**20
_SPEC_NAME = b"WhisperSpec"
_CHOOSE = "Choose a folder with a Whisper model converted for CTranslate2."
_FETCH = "Fetch the model again, or choose another folder."


def check_folder(folder: Path) -> None:
    """Check that the files are there and are what their names say; cheap, reads no weights.

    Raises:
        ModelMissingError: the folder or one of its files is not there.
        ModelFileError: a file is damaged, or the folder holds another kind of model.
    """
    if not folder.is_dir():
        raise ModelMissingError(f"There is no Whisper model folder {folder}.", advice=_CHOOSE)
    foreign = [name for name in _FOREIGN if (folder / name).is_file()]
    if foreign and not (folder / "model.bin").is_file():
        raise ModelFileError(
            f"{folder} holds {foreign[0]}, a model in another format than CTranslate2's.",
            advice="Convert it with: ct2-transformers-converter --model FOLDER --output_dir OUT "
            "--copy_files tokenizer.json",
        )
    missing = [name for name in _FILES if not (folder / name).is_file()]
    if not any((folder / name).is_file() for name in _VOCABULARIES):
        missing.append(_VOCABULARIES[0])
    if missing:
        raise ModelMissingError(
            f"The Whisper model in {folder} lacks {', '.join(missing)}.", advice=_FETCH
        )
    _check_json(folder / "config.json")
    _check_json(folder / "tokenizer.json")
    _check_weights(folder / "model.bin")


def _check_json(path: Path) -> None:
    try:
        content = json.loads(read_small(path, _MAX_JSON_BYTES))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelFileError(f"{path} is not JSON: {reason_of(error)}.", advice=_FETCH) from error
    if not isinstance(content, dict):
        raise ModelFileError(f"{path} is not a JSON object.", advice=_FETCH)


def _check_weights(path: Path) -> None:
    # A CTranslate2 file begins with its format's version and, as a counted string, the name of
    # the kind of model.
    with path.open("rb") as file:
        head = file.read(64)
    if _SPEC_NAME not in head:
        raise ModelFileError(
            f"{path} is not a Whisper model converted for CTranslate2.", advice=_CHOOSE
        )
