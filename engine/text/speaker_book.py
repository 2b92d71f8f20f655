"""What the user said about speakers: their names and colours, and who are one person."""

from engine.core.events import SpeakerColored, SpeakerMerged, SpeakerRenamed
from engine.core.types import MAX_SPEAKERS, USER_EPOCH, SpeakerId
from engine.text.cleaning import clean_line

Speakers = tuple[SpeakerId, ...]


def is_speaker(speaker: SpeakerId) -> bool:
    """Return whether there can be such a speaker."""
    return speaker.epoch >= USER_EPOCH and 0 <= speaker.slot < MAX_SPEAKERS


class SpeakerBook:
    """Names, colours and merges of one document's speakers. Thread: the document's."""

    def __init__(self) -> None:
        self._names: dict[SpeakerId, str] = {}
        self._colors: dict[SpeakerId, int] = {}
        self._targets: dict[SpeakerId, SpeakerId] = {}
        self._resolved: dict[Speakers, Speakers] = {}

    def copy(self) -> "SpeakerBook":
        """Return another that says the same."""
        other = SpeakerBook()
        other._names = dict(self._names)
        other._colors = dict(self._colors)
        other._targets = dict(self._targets)
        return other

    def rename(self, event: SpeakerRenamed) -> bool:
        """Take a name in; return whether one changed."""
        speaker, name = SpeakerId(event.epoch, event.slot), clean_line(event.name)
        if not is_speaker(speaker) or name == self.own_name(speaker):
            return False
        if name:
            self._names[speaker] = name
        else:
            del self._names[speaker]
        return True

    def color(self, event: SpeakerColored) -> bool:
        """Take a colour in; return whether one changed."""
        speaker, color = event.speaker, event.color
        is_known = is_speaker(speaker) and -1 <= color < MAX_SPEAKERS
        if not is_known or color == self.own_color(speaker):
            return False
        if color >= 0:
            self._colors[speaker] = color
        else:
            del self._colors[speaker]
        return True

    def merge(self, event: SpeakerMerged) -> bool:
        """Take a merge or a parting in; return whether anybody is somebody else now.

        A merge that would close a circle is passed over.
        """
        speaker, target = event.speaker, event.target
        if not is_speaker(speaker) or not is_speaker(target):
            return False
        if speaker == target:
            if self._targets.pop(speaker, None) is None:
                return False
        elif self.target_of(speaker) == target or self.resolve(target) == speaker:
            return False
        else:
            self._targets[speaker] = target
        self._resolved.clear()
        return True

    def own_name(self, speaker: SpeakerId) -> str:
        """Return the name given to this very speaker; "" if none was."""
        return self._names.get(speaker, "")

    def own_color(self, speaker: SpeakerId) -> int:
        """Return the colour given to this very speaker; -1 if none was."""
        return self._colors.get(speaker, -1)

    def target_of(self, speaker: SpeakerId) -> SpeakerId | None:
        """Return whom this very speaker was merged into."""
        return self._targets.get(speaker)

    def resolve(self, speaker: SpeakerId) -> SpeakerId:
        """Return who a speaker is, through all merges."""
        while (target := self._targets.get(speaker)) is not None:
            speaker = target
        return speaker

    def resolve_all(self, speakers: Speakers) -> Speakers:
        """Return who some speakers are, each once, in their order."""
        if not self._targets:
            return speakers
        found = self._resolved.get(speakers)
        if found is None:
            found = tuple(dict.fromkeys(self.resolve(speaker) for speaker in speakers))
            self._resolved[speakers] = found
        return found

    def merged_into(self, speaker: SpeakerId) -> Speakers:
        """Return everybody who is shown as this speaker, without the speaker."""
        return tuple(sorted(s for s in self._targets if self.resolve(s) == speaker))

    def has(self, speaker: SpeakerId) -> bool:
        """Return whether anything was said about a speaker."""
        return (
            speaker in self._names
            or speaker in self._colors
            or speaker in self._targets
            or speaker in self._targets.values()
        )
