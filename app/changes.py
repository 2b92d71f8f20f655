"""What a batch of events changed of what is shown."""

from engine.core.events import Event, SpeakerColored, SpeakerMerged, SpeakerRenamed


class Changes:
    """What a batch of events touched."""

    def __init__(self) -> None:
        self.is_replaced = False
        self.first_line: int | None = None
        self.has_session = False
        self.has_backends = False
        self.has_partial = False
        self.has_activity = False
        self.has_spans = False
        self.has_speakers = False
        self.has_utterance = False
        self.has_play = False
        self.has_notices = False

    @property
    def has_words(self) -> bool:
        """Whether what is read, or who said it, may be different."""
        has_line = self.first_line is not None
        has_new = self.has_partial or self.has_activity or self.has_spans
        return self.is_replaced or has_line or has_new or self.has_speakers

    def take_line(self, first: int | None) -> None:
        """Take note of the first line that an event changed, if any."""
        if first is not None:
            self.first_line = first if self.first_line is None else min(self.first_line, first)

    def take_edit(self, event: Event) -> None:
        """Take note of an event that changes names, colours, or who is one person."""
        if isinstance(event, SpeakerRenamed | SpeakerMerged | SpeakerColored):
            self.has_speakers = True
