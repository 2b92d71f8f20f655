"""Colours: one table in the resources, following the system's light or dark."""

import tomllib
from dataclasses import dataclass, fields
from string import Template

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from engine.core.resources import resource_path


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of one appearance, "#RRGGBB".

    Args:
        ground: behind the transcript and the timeline.
        panel: behind everything else.
        raised: buttons, menus and cards.
        hover: a button under the pointer.
        pressed: a button held or switched on.
        line: between areas.
        edge: around controls.
        scroll: handles of scroll bars.
        text: words.
        muted: times and captions.
        faint: disabled text and marks nobody needs to read.
        partial: words that may still change.
        focus: focused controls and the main action.
        focus_hover: the main action under the pointer.
        on_focus: text upon it.
        record: only while sound is being recorded.
        on_record: text upon it.
        warning: problems to look at.
        good: levels as they should be.
        selection: behind what is selected.
        warning_ground: behind warnings.
        error_ground: behind errors.
        hit: behind words that the search found.
        hit_current: behind the found words the user is at.
        hit_mark: a hit where there are no words, as on the timeline.
        playing: the line at the moment that is heard.
        playing_ground: behind the word that is heard.
        overlap: marks where several people speak at once.
        speakers: the colours people are told apart by, besides letter and pattern.
    """

    ground: str
    panel: str
    raised: str
    hover: str
    pressed: str
    line: str
    edge: str
    scroll: str
    text: str
    muted: str
    faint: str
    partial: str
    focus: str
    focus_hover: str
    on_focus: str
    record: str
    on_record: str
    warning: str
    good: str
    selection: str
    warning_ground: str
    error_ground: str
    hit: str
    hit_current: str
    hit_mark: str
    playing: str
    playing_ground: str
    overlap: str
    speakers: tuple[str, ...]

    def color(self, name: str) -> QColor:
        """Return a colour by its field's name."""
        return QColor(getattr(self, name))

    def speaker(self, color: int) -> QColor:
        """Return one of the speakers' colours; see `TranscriptDocument.speaker_color`."""
        return QColor(self.speakers[color % len(self.speakers)])


def load_themes() -> dict[str, Theme]:
    """Return the themes of the resources by name, "light" and "dark"."""
    table = tomllib.loads(resource_path("theme/palette.toml").read_text("utf-8"))
    return {
        name: Theme(**{**values, "speakers": tuple(values["speakers"])})
        for name, values in table.items()
    }


class Appearance(QObject):
    """The theme in force; `changed` is emitted when the system switches. Thread: main.

    Args:
        forced: "light" or "dark" in place of the system's.
    """

    changed = Signal()

    def __init__(self, forced: str = "", parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._themes = load_themes()
        self._forced = forced
        self.theme = self._themes[self._wanted()]
        self._apply()
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._follow)

    def force(self, name: str) -> None:
        """Use a theme whatever the system says; "" follows the system again."""
        self._forced = name
        self._follow()

    @Slot()
    def _follow(self) -> None:
        theme = self._themes[self._wanted()]
        if theme is not self.theme:
            self.theme = theme
            self._apply()
            self.changed.emit()

    def _wanted(self) -> str:
        if self._forced:
            return self._forced
        scheme = QGuiApplication.styleHints().colorScheme()
        return "dark" if scheme == Qt.ColorScheme.Dark else "light"

    def _apply(self) -> None:
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.setPalette(_palette(self.theme))
            application.setStyleSheet(_style_sheet(self.theme, self.theme is self._themes["dark"]))


def _palette(theme: Theme) -> QPalette:
    palette = QPalette()
    roles = {
        QPalette.ColorRole.Window: theme.panel,
        QPalette.ColorRole.WindowText: theme.text,
        QPalette.ColorRole.Base: theme.ground,
        QPalette.ColorRole.AlternateBase: theme.panel,
        QPalette.ColorRole.Text: theme.text,
        QPalette.ColorRole.PlaceholderText: theme.muted,
        QPalette.ColorRole.Button: theme.raised,
        QPalette.ColorRole.ButtonText: theme.text,
        QPalette.ColorRole.Highlight: theme.selection,
        QPalette.ColorRole.HighlightedText: theme.text,
        QPalette.ColorRole.Link: theme.focus,
        QPalette.ColorRole.ToolTipBase: theme.raised,
        QPalette.ColorRole.ToolTipText: theme.text,
    }
    for role, value in roles.items():
        palette.setColor(role, QColor(value))
    for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text):
        palette.setColor(QPalette.ColorGroup.Disabled, role, QColor(theme.faint))
    return palette


def _style_sheet(theme: Theme, is_dark: bool) -> str:
    template = Template(resource_path("theme/window.qss").read_text("utf-8"))
    values = {field.name: str(getattr(theme, field.name)) for field in fields(theme)}
    kind = "light" if is_dark else "dark"
    icons = {
        name: resource_path(f"icons/{name.replace('_', '-')}-{kind}.svg").as_posix()
        for name in ("chevron", "chevron_up", "check")
    }
    return template.substitute(values, **icons)
