"""The messages that the code holds, as docs/messages.md lists them."""

import importlib
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@cache
def lister() -> ModuleType:
    """Return packaging/list_messages.py, which is in no package."""
    folder = str(ROOT / "packaging")
    sys.path.insert(0, folder)
    try:
        return importlib.import_module("list_messages")
    finally:
        sys.path.remove(folder)


def find(root: Path = ROOT) -> tuple[Any, ...]:
    """Return the messages of the packages app and engine in a folder."""
    found: tuple[Any, ...] = lister().find_messages(root)
    return found


@cache
def found_here() -> tuple[Any, ...]:
    """Return the messages of this program, found once."""
    return find()
