"""Transcript and timeline as lists that a screen reader walks through."""

from app.access.rows import RowsInterface, RowSource
from app.access.telling import RowTeller, Send, send_to_desktop
from app.views.timeline.speaker_timeline import SpeakerTimeline
from app.views.transcript.view import TranscriptView


def transcript_interface(view: TranscriptView, send: Send = send_to_desktop) -> RowsInterface:
    """Return the transcript as a list: a row says time, speaker and words.

    Moving to another row tells that row, moving within one the word.
    """

    def is_chosen(row: int) -> bool:
        chosen = view.cursor_at.chosen()
        return chosen is not None and chosen[0].row <= row <= chosen[1].row

    def word() -> str:
        spot = view.cursor_at.spot
        row = view.rows.rows[spot.row] if spot is not None else None
        return row.word(spot.word).text.strip() if row and spot and row.span is None else ""

    source = RowSource(
        widget=view,
        surface=view.viewport(),
        num_rows=view.row_count,
        name=view.row_text,
        about=lambda row: "",
        rect=view.row_rect,
        current=lambda: view.current_row if view.current_row >= 0 else None,
        is_chosen=is_chosen,
        more=lambda: "",
    )

    def connect(teller: RowTeller) -> None:
        view.current_row_changed.connect(teller.tell_row)
        view.cursor_at.moved.connect(lambda: teller.say_within(word()))

    RowTeller(source, connect, send)
    return RowsInterface(source)


def timeline_interface(timeline: SpeakerTimeline, send: Send = send_to_desktop) -> RowsInterface:
    """Return the timeline as a list of speakers, and what is said at the moment one is at.

    Going to another moment tells time, speakers and words of it.
    """

    def moment(sample: int) -> str:
        return timeline.describe(timeline.scene.document.seconds(sample))

    source = RowSource(
        widget=timeline,
        surface=timeline,
        num_rows=lambda: len(timeline.speaker_rows()),
        name=timeline.describe_row,
        about=lambda row: timeline.describe_now(),
        rect=timeline.row_rect_on_widget,
        current=lambda: timeline.current_row,
        is_chosen=lambda row: timeline.current_row == row,
        more=timeline.describe_now,
    )

    def connect(teller: RowTeller) -> None:
        timeline.current_row_changed.connect(teller.tell_row)
        timeline.time_chosen.connect(lambda sample: teller.say(moment(sample)))

    RowTeller(source, connect, send)
    return RowsInterface(source)
