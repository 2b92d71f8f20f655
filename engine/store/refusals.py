"""Says why the disk did not take a recording, and what to do about it."""

import errno
from pathlib import Path

from engine.core.errors import StoreError, reason_of

_ADVICE = {
    errno.EROFS: "Choose another folder for recordings.",
    errno.EACCES: "Give yourself the right to write there, or choose another folder.",
    errno.EPERM: "Give yourself the right to write there, or choose another folder.",
    errno.ENOENT: "Bring the folder or its disk back, or choose another folder.",
    errno.EIO: "The disk reports a fault: choose a folder on another disk.",
    errno.EDQUOT: "Delete files of yours there, or choose another folder.",
}
_USUAL_ADVICE = "Free disk space there, or choose another folder for recordings."


def refused(path: Path, error: Exception, what: str = "The recording") -> StoreError:
    """Return what to tell when `path` could not be written.

    Args:
        path: the file or folder.
        error: what the system said.
        what: the subject of the sentence, with a capital letter.
    """
    number = getattr(error, "errno", None)
    reason = reason_of(error)
    if number == errno.ENOENT:
        reason = "it was moved or deleted, or its disk is not there"
    return StoreError(
        f"{what} cannot be written to {path}: {reason}.",
        advice=_ADVICE.get(number or 0, _USUAL_ADVICE),
    )
