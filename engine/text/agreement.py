"""Which words of a growing hypothesis have settled: agreement between hypotheses far enough apart.

A recognizer that re-reads a growing window changes its mind about the last words. A word is taken
as settled when two hypotheses agree on it and on everything before it, the later one having heard
enough more audio to know better (LocalAgreement with a minimum distance; Liu et al. 2020, "Low-
latency sequence-to-sequence speech recognition and translation by partial hypothesis selection").
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol


class TimedWord(Protocol):
    """What the policy needs to know of a word."""

    @property
    def text(self) -> str:
        """As written."""
        ...

    @property
    def end(self) -> int:
        """One past its last sample."""
        ...

    @property
    def probability(self) -> float:
        """The recognizer's own, 0 to 1."""
        ...


def word_key(text: str) -> str:
    """Return what two spellings of a word have in common: no case, no signs around it."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept = "".join(c for c in folded if c.isalnum() or c in "'-")
    return kept.strip("'-") or folded.strip()


def common_prefix(a: Sequence[TimedWord], b: Sequence[TimedWord]) -> int:
    """Return how many words `a` and `b` share from the start, compared by key."""
    for i, (left, right) in enumerate(zip(a, b, strict=False)):
        if word_key(left.text) != word_key(right.text):
            return i
    return min(len(a), len(b))


@dataclass(frozen=True, slots=True)
class _Heard:
    heard_until: int
    words: tuple[TimedWord, ...]


@dataclass(slots=True)
class AgreementState:
    """Hypotheses that still matter, oldest first; a handful at most."""

    heard: list[_Heard] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class AgreementPolicy:
    """Decides how many words of a new hypothesis have settled. All settings in samples.

    Args:
        min_distance: how much more audio the later hypothesis must have heard.
        edge_hold: words that end nearer than this to what was heard are not yet trusted.
        doubtful_hold: the same for words less probable than `doubtful_probability`.
        doubtful_probability: 0 to 1; what is below often reads otherwise with more audio.
    """

    min_distance: int
    edge_hold: int
    doubtful_hold: int = 0
    doubtful_probability: float = 0.0

    def settle(self, state: AgreementState, words: Sequence[TimedWord], heard_until: int) -> int:
        """Take a hypothesis into `state` and return how many of its first words have settled.

        The caller moves those words to its final ones and gives later hypotheses without them.
        The last word never settles here: what follows it decides its punctuation, and often
        its end.

        Args:
            state: changed in place.
            words: what is not settled yet, in order.
            heard_until: sample up to which audio went into `words`.
        """
        older = [h for h in state.heard if h.heard_until <= heard_until - self.min_distance]
        agreed = common_prefix(words, older[-1].words) if older else 0
        num_settled = 0
        for word in words[: min(agreed, len(words) - 1)]:
            is_doubtful = word.probability < self.doubtful_probability
            hold = max(self.edge_hold, self.doubtful_hold if is_doubtful else 0)
            if word.end > heard_until - hold:
                break
            num_settled += 1
        kept = [*older[-1:], *(h for h in state.heard if h not in older)]
        kept.append(_Heard(heard_until, tuple(words)))
        settled = words[:num_settled]
        state.heard = [
            _Heard(h.heard_until, h.words[num_settled:])
            for h in kept
            if common_prefix(h.words, settled) == num_settled
        ]
        return num_settled
