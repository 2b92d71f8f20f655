"""Says to Qt how painted widgets are told to screen readers."""

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleInterface

from app.access.meter import MeterInterface
from app.access.views import timeline_interface, transcript_interface
from app.views.captions.accessible import AccessibleCaptions
from app.views.captions.view import CaptionsView
from app.views.health.level_meter import LevelMeter
from app.views.timeline.speaker_timeline import SpeakerTimeline
from app.views.transcript.view import TranscriptView


def install_accessibility() -> None:
    """Let Qt know how what paints itself is read out. Thread: main.

    To be called before the first widget is made: Qt asks once for each, as early as that. Nothing
    is worked out before a screen reader asks.
    """
    QAccessible.installFactory(make_interface)


def make_interface(class_name: str, watched: QObject) -> QAccessibleInterface | None:
    """Return the interface of a widget that paints itself; None for all others."""
    del class_name
    match watched:
        case TranscriptView():
            return transcript_interface(watched)
        case SpeakerTimeline():
            return timeline_interface(watched)
        case CaptionsView():
            return AccessibleCaptions(watched)
        case LevelMeter():
            return MeterInterface(watched)
        case _:
            return None
