"""Where a dialog for a file begins: in the folder used last."""

from pathlib import Path
from typing import Literal

from PySide6.QtCore import QStandardPaths
from PySide6.QtWidgets import QFileDialog

from app.layout import LayoutFile

_Place = QStandardPaths.StandardLocation


def begin_where_last(
    dialog: QFileDialog, layout_file: LayoutFile, use: Literal["saving", "listening"]
) -> None:
    """Let a dialog begin in the folder it was used in last, and remember the one it is used in.

    Args:
        dialog: not open yet, and no file chosen yet.
        layout_file: remembers.
        use: what the files are for; before the first use, the user's folder of documents, or of
            music, is taken.
    """
    name = "saving_folder" if use == "saving" else "listening_folder"
    usual = _Place.DocumentsLocation if use == "saving" else _Place.MusicLocation
    places = (
        str(getattr(layout_file.layout, name)),
        QStandardPaths.writableLocation(usual),
        QStandardPaths.writableLocation(_Place.HomeLocation),
    )
    folder = next((place for place in places if place and Path(place).is_dir()), "")
    if folder:
        dialog.setDirectory(folder)

    def remember(path: str) -> None:
        layout_file.change(**{name: str(Path(path).parent)})

    dialog.fileSelected.connect(remember)
