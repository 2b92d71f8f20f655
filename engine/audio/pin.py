"""Keeps what a sound system writes to from being freed under it."""

import ctypes


def pin(driver: object) -> None:
    """Keep an object, and what it holds, until `unpin`, also while the interpreter ends.

    The callback of a stream that could not be closed runs on until the process is gone.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(driver))


def unpin(driver: object) -> None:
    """Let it be freed: its stream is closed."""
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(driver))
