"""Icons drawn from the SVG files of the resources in the colours of the theme."""

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from engine.core.resources import resource_path

_SIZES = (16, 32, 48)


def icon(name: str, color: QColor, disabled: QColor | None = None) -> QIcon:
    """Return an icon.

    Args:
        name: file of `resources/icons` without its ending.
        color: of its strokes.
        disabled: of a disabled control.
    """
    result = QIcon()
    source = resource_path(f"icons/{name}.svg").read_text("utf-8")
    for size in _SIZES:
        result.addPixmap(_pixmap(source, color, size))
        if disabled is not None:
            result.addPixmap(_pixmap(source, disabled, size), QIcon.Mode.Disabled)
    return result


def app_icon() -> QIcon:
    """Return the program's own icon."""
    source = resource_path("icons/vivavoce.svg").read_text("utf-8")
    result = QIcon()
    for size in (16, 32, 48, 128, 256):
        result.addPixmap(_pixmap(source, QColor("black"), size))
    return result


def _pixmap(source: str, color: QColor, size: int) -> QPixmap:
    colored = source.replace("currentColor", color.name())
    pixmap = QPixmap(size, size)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    renderer = QSvgRenderer(QByteArray(colored.encode()))
    renderer.render(painter, QRectF(0, 0, size, size))
    painter.end()
    return pixmap
