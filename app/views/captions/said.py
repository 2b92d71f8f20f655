"""What the program says for the user, as far as it has been heard."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.core.events import UtteranceChanged, UtteranceState

_MAX_SAID = 20
_HEARD = (UtteranceState.SPEAKING, UtteranceState.PAUSED, UtteranceState.DONE)
_ENDS = (UtteranceState.DONE, UtteranceState.CANCELLED, UtteranceState.FAILED)


@dataclass(frozen=True, slots=True)
class Said:
    """A text of the user's.

    Args:
        utterance_id: see `UtteranceChanged`.
        text: the whole of it.
        at: sample of the recording after whose words it stands.
        shown: characters that have been, or are being, heard.
        is_over: whether nothing more of it will be heard.
    """

    utterance_id: int
    text: str
    at: int = 0
    shown: int = 0
    is_over: bool = False

    @property
    def shown_text(self) -> str:
        """What others have heard of it, to the end of the running sentence."""
        return self.text[: self.shown].strip()


class SaidTexts:
    """Texts taken from the user, the newest last. Thread: main."""

    def __init__(self) -> None:
        self._said: list[Said] = []

    @property
    def shown(self) -> Sequence[Said]:
        """Those of which something was heard."""
        return tuple(said for said in self._said if said.shown)

    @property
    def current(self) -> Said | None:
        """The oldest that is not over."""
        return next((said for said in self._said if not said.is_over), None)

    def add(self, utterance_id: int, text: str) -> None:
        """Take a text that will be spoken."""
        self._said = [said for said in self._said if said.utterance_id != utterance_id]
        self._said = [*self._said[-_MAX_SAID + 1 :], Said(utterance_id, text)]

    def clear(self) -> None:
        """Forget what is over: another recording has begun, whose words it does not stand among."""
        self._said = [replace(said, at=0) for said in self._said if not said.is_over]

    def take(self, event: UtteranceChanged, end_of_words: int) -> bool:
        """Follow an utterance and return whether what is shown changed.

        Args:
            event: of any utterance; those of others' texts are passed over.
            end_of_words: one past the last sample of the newest final word.
        """
        before = self.shown
        for index, said in enumerate(self._said):
            if said.utterance_id != event.utterance_id or said.is_over:
                continue
            shown = said.shown
            if event.state is UtteranceState.DONE:
                shown = len(said.text)
            elif event.state in _HEARD:
                shown = max(shown, event.text_end or len(said.text))
            at = end_of_words if shown and not said.shown else said.at
            is_over = event.state in _ENDS
            self._said[index] = replace(said, at=at, shown=shown, is_over=is_over)
        self._said = [said for said in self._said if said.shown or not said.is_over]
        return self.shown != before
