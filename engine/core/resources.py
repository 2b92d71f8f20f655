"""Finds the files that come with the program: in a checkout, a wheel, or a frozen bundle."""

import importlib.util
import sys
from pathlib import Path


def resource_path(name: str) -> Path:
    """Return the path of a bundled file or folder.

    Args:
        name: relative to `resources/`, with forward slashes.

    Raises:
        FileNotFoundError: the installation is incomplete; names the places searched.
    """
    candidates = [folder / name for folder in _folders()]
    for path in candidates:
        if path.exists():
            return path
    places = ", ".join(str(path) for path in candidates)
    raise FileNotFoundError(f"{name} did not come with this installation; searched {places}")


def _folders() -> list[Path]:
    folders = []
    bundle = getattr(sys, "_MEIPASS", None)
    if bundle:
        folders.append(Path(bundle) / "app" / "resources")
    # Found without importing app, which lies above this layer.
    spec = importlib.util.find_spec("app")
    folders += [
        Path(place) / "resources" for place in (spec and spec.submodule_search_locations) or ()
    ]
    folders.append(Path(__file__).resolve().parents[2] / "resources")
    return folders
