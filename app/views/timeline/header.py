"""Paints whose rows these are: badges and names at the left of the timeline."""

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen

from app.i18n import tr
from app.names import shown_name
from app.views.speaker_badge import badge_size, paint_badge
from app.views.timeline.scene import TimelineScene

_LEFT = 12


def name_rect(scene: TimelineScene, row: int) -> QRectF:
    """Return where a row's name is written."""
    rect = scene.layout.row_rect(row)
    left = _badge_rect(scene, row).right() + 8
    return QRectF(left, rect.top(), scene.layout.sizes.header - left - 8, rect.height())


def paint_header(painter: QPainter, scene: TimelineScene, current: int | None) -> None:
    """Paint badges and names of the rows, and of the program's own voice.

    Args:
        painter: of the widget.
        scene: what is shown.
        current: index of the row the keyboard is at, the own voice's being the last.
    """
    layout, theme = scene.layout, scene.theme
    painter.fillRect(QRectF(0, 0, layout.sizes.header, layout.height), theme.color("ground"))
    if scene.rows:
        _paint_overlap_sign(painter, scene)
    painter.save()
    painter.setClipRect(layout.rows_rect)
    for row, shown in enumerate(scene.rows):
        _paint_current(painter, scene, layout.row_rect(row), is_current=row == current)
        badge = _badge_rect(scene, row)
        color = scene.document.speaker_color(shown.speaker)
        paint_badge(painter, badge, shown.speaker, theme, scene.font, color)
        name = shown_name(scene.document, shown.speaker)
        _paint_name(painter, scene, name, name_rect(scene, row), scene.color(row))
    painter.restore()
    if layout.has_own_voice:
        own = layout.own_rect
        _paint_current(painter, scene, own, is_current=current == len(scene.rows))
        place = QRectF(_LEFT, own.top(), layout.sizes.header - _LEFT - 8, own.height())
        _paint_name(painter, scene, tr("Own voice"), place, theme.color("muted"))


def _badge_rect(scene: TimelineScene, row: int) -> QRectF:
    rect = scene.layout.row_rect(row)
    size = min(QFontMetrics(scene.font).height() - 1, round(rect.height()) - 5)
    badge = badge_size(size)
    badge.moveTopLeft(QPointF(_LEFT, round(rect.center().y() - badge.height() / 2)))
    return badge


def _paint_current(
    painter: QPainter, scene: TimelineScene, rect: QRectF, *, is_current: bool
) -> None:
    if is_current:
        place = QRectF(4, rect.top() + 1, scene.layout.sizes.header - 8, rect.height() - 2)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(scene.theme.color("focus"), 1))
        painter.setBrush(scene.theme.color("selection"))
        painter.drawRoundedRect(place.adjusted(0.5, 0.5, -0.5, -0.5), 5, 5)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def _paint_name(
    painter: QPainter, scene: TimelineScene, name: str, place: QRectF, color: QColor
) -> None:
    metrics = QFontMetrics(scene.font)
    name = metrics.elidedText(name, Qt.TextElideMode.ElideRight, int(place.width()))
    painter.setFont(scene.font)
    painter.setPen(color)
    # A right-to-left name stands beside its badge as well.
    flags = (
        Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute
    )
    painter.drawText(place, flags, name)


def _paint_overlap_sign(painter: QPainter, scene: TimelineScene) -> None:
    """Name the strip of overlaps by two circles that overlap."""
    sizes = scene.layout.sizes
    radius = sizes.overlap * 0.38
    y = sizes.top - sizes.overlap / 2 + 0.5
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(scene.theme.color("overlap"), 1.2))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for shift in (0, 1.1 * radius):
        painter.drawEllipse(QPointF(sizes.header - 18 + shift, y), radius, radius)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
