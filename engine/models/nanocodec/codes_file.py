"""Files of codes (`.npz`): what a speech model wrote, to be spoken without the model."""

import os
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from engine.core.errors import StoreError, reason_of
from engine.models.nanocodec.config import CodecConfig
from engine.models.nanocodec.layout import CodeLayout, Codes, CodesError, convert_codes

_MAX_BYTES = 256 * 2**20
_OTHER_FILE = "Name a file of codes as this program writes them (.npz)."
# A shape that lies asks for more memory than there is; numpy evaluates headers as literals.
_READ_ERRORS = (
    OSError,
    ValueError,
    EOFError,
    KeyError,
    TypeError,
    SyntaxError,
    MemoryError,
    OverflowError,
    RecursionError,
    NotImplementedError,
    zipfile.BadZipFile,
    zlib.error,
)


@dataclass(frozen=True, slots=True, eq=False)
class CodesFile:
    """The frames of a clip and the codec they are for.

    Args:
        codec_id: see `engine.models.nanocodec.config.RELEASED`.
        layout: of `codes`.
        codes: integers.
    """

    codec_id: str
    layout: CodeLayout
    codes: Codes

    def frames(self, config: CodecConfig) -> Codes:
        """Return (T, D) per-dimension codes.

        Raises:
            CodesError: the codes are not of this codec.
        """
        return convert_codes(self.codes, self.layout, CodeLayout.PER_DIMENSION, config)


def write_codes(path: Path, content: CodesFile) -> None:
    """Write a file of codes.

    Raises:
        StoreError: it cannot be written.
    """
    try:
        # Speech of somebody: for its owner alone.
        with open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as stream:
            np.savez_compressed(
                stream,
                codec_id=np.array(content.codec_id),
                layout=np.array(str(content.layout)),
                codes=np.asarray(content.codes, dtype=np.int32),
            )
    except OSError as error:
        raise StoreError(
            f"The codes cannot be written to {path}: {reason_of(error)}.",
            advice="Choose another folder.",
        ) from error


def read_codes(path: Path) -> CodesFile:
    """Read a file of codes. Nothing in it is run, whoever wrote it.

    Raises:
        CodesError: there is no such file, or it is cut short or no file of codes.
    """
    try:
        # Opened here, because numpy leaves a file open that turns out to be no zip file.
        with path.open("rb") as stream:
            codec_id, layout, codes = _read_arrays(stream, path)
    except FileNotFoundError as error:
        raise CodesError(
            f"There is no file {path}.", advice="Check the name and the folder."
        ) from error
    except _READ_ERRORS as error:
        raise CodesError(
            f"{path} cannot be read as a file of codes: {reason_of(error)}.",
            advice="It may be cut short: write it again.",
        ) from error
    if layout not in tuple(CodeLayout):
        raise CodesError(
            f'{path} has codes in the unknown layout "{layout}".',
            advice=f"Layouts are: {', '.join(CodeLayout)}.",
        )
    if not np.issubdtype(codes.dtype, np.integer):
        raise CodesError(
            f"The codes in {path} are no integers but {codes.dtype}.", advice=_OTHER_FILE
        )
    return CodesFile(codec_id, CodeLayout(layout), codes)


def _read_arrays(stream: BinaryIO, path: Path) -> tuple[str, str, Codes]:
    archive = np.load(stream, allow_pickle=False)
    if not isinstance(archive, np.lib.npyio.NpzFile):
        raise CodesError(f"{path} is one array, not a file of codes (.npz).", advice=_OTHER_FILE)
    with archive:
        missing = {"codec_id", "layout", "codes"} - set(archive.files)
        if missing:
            raise CodesError(
                f"{path} is no file of codes: it lacks {min(missing)}.", advice=_OTHER_FILE
            )
        # Sizes before compression: a small file can hold a great many zeros.
        assert archive.zip is not None, "it is open"
        num_bytes = sum(info.file_size for info in archive.zip.infolist())
        if num_bytes > _MAX_BYTES:
            raise CodesError(
                f"{path} is too large for a file of codes: {num_bytes} bytes.", advice=_OTHER_FILE
            )
        names = [archive[key] for key in ("codec_id", "layout")]
        if any(name.ndim or name.dtype.kind != "U" for name in names):
            raise CodesError(
                f"{path} is no file of codes: its codec or its layout is no name.",
                advice=_OTHER_FILE,
            )
        return str(names[0]), str(names[1]), archive["codes"]
