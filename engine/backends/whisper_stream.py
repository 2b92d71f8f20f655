"""One live transcript: audio in, partial and final words out.

Audio passes the speech detector in windows of 32 ms; everything is decided at the ends of those
windows, so that results do not depend on how audio is cut into blocks. While somebody speaks, a
window of audio is read again and again as it grows. Words that two readings agree on become
final; they stay in the window as a prefix that steers the next reading, until the window is cut
in front of the last few of them. A pause ends the utterance and makes all its words final.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.backends.whisper_policy import LivePolicy
from engine.backends.whisper_reader import Decoder, WindowReader, moved
from engine.backends.whisper_state import LiveState
from engine.core.events import FinalWords, PartialWords, StreamEvent
from engine.core.types import Pcm, Word, as_pcm
from engine.models.voice_activity import SAMPLE_RATE, WINDOW_SAMPLES, VadState
from engine.models.whisper_decoder import DecodedWord
from engine.text.agreement import AgreementPolicy, AgreementState, word_key

_STITCH_SAMPLES = SAMPLE_RATE // 20
_LANGUAGE_SAMPLES = 2 * SAMPLE_RATE  # less speech tells the language too unsurely to keep it
_SENTENCE_SIGNS = ".?!。？！"


class SpeechDetector(Protocol):
    """`engine.models.voice_activity.VoiceActivity`, or a fake."""

    def step(self, pcm: Pcm, state: VadState) -> NDArray[np.float32]:
        """Return the probability of speech of each window of 512 samples completed."""
        ...


class WhisperStream:
    """A `Recognizer` stream that paces itself. Thread: its lane's only.

    Args:
        decoder: shared with other streams.
        detector: shared with other streams.
        policy: delay against cost.
        now_s: measures what a reading costs.
        language: fixed by the user, or None to detect it for each utterance.
    """

    def __init__(
        self,
        decoder: Decoder,
        detector: SpeechDetector,
        *,
        policy: LivePolicy | None = None,
        now_s: Callable[[], float] = lambda: 0.0,
        language: str | None = None,
    ) -> None:
        self._policy = policy or LivePolicy()
        self._reader = WindowReader(decoder, self._policy)
        self._detector = detector
        self._agreement = AgreementPolicy(
            self._policy.min_distance,
            self._policy.edge_hold,
            self._policy.doubtful_hold,
            self._policy.doubtful_probability,
        )
        self._now_s = now_s
        self._language = language
        self._state = LiveState()

    def push(self, block: Pcm) -> Sequence[StreamEvent]:
        """Take the next samples; see `engine.backends.protocols.Stream`."""
        state = self._state
        audio = np.concatenate([state.pending, as_pcm(block)])
        num_whole = len(audio) // WINDOW_SAMPLES * WINDOW_SAMPLES
        events: list[StreamEvent] = []
        for start in range(0, num_whole, WINDOW_SAMPLES):
            self._take(audio[start : start + WINDOW_SAMPLES])
            events += self._advance()
        state.pending = audio[num_whole:].copy()
        return events

    def flush(self) -> Sequence[StreamEvent]:
        """Read and tell what is held back, also where speech had hardly begun."""
        state = self._state
        if len(state.pending):
            self._take(state.pending)
            state.pending = np.zeros(0, dtype=np.float32)
        since = max(state.floor, state.position - self._policy.end_silence)
        if not state.gate.is_open and state.gate.is_faint_since(since):
            state.gate.open(since, state.position)
            self._begin()
        events = self._finish(state.position) if state.gate.is_open else []
        state.vad = VadState()
        state.floor = state.position
        return events

    def reset(self) -> None:
        """Begin anew at sample 0."""
        self._state = LiveState()

    def close(self) -> None:
        """Forget the audio and the text; idempotent."""
        self._state = LiveState()

    def set_backlog(self, num_samples: int) -> None:
        """Put the next reading off until the audio that waits has been taken; read in haste."""
        state, policy = self._state, self._policy
        state.is_hurried = num_samples >= policy.hurry_backlog
        if num_samples >= policy.min_hop:
            latest = state.read_until + policy.max_hop
            state.next_read = max(state.next_read, min(state.position + num_samples, latest))

    def _take(self, window: Pcm) -> None:
        """Append at most 512 samples."""
        state = self._state
        filled = np.pad(window, (0, WINDOW_SAMPLES - len(window)))
        probability = float(self._detector.step(filled, state.vad)[0])
        state.position += len(window)
        state.audio = np.concatenate([state.audio, window])
        if state.gate.is_open:
            state.gate.step(state.position, probability)
            return
        keep = self._policy.pre_roll + self._policy.end_silence
        state.audio = state.audio[-keep:]
        state.gate.step(state.position, probability)
        if state.gate.is_open:
            self._begin()

    def _begin(self) -> None:
        state, policy = self._state, self._policy
        kept_from = state.position - len(state.audio)
        state.window_start = max(state.floor, state.gate.onset - policy.pre_roll, kept_from)
        state.read_until = state.gate.onset
        state.next_read = state.gate.onset + policy.min_hop
        state.language = self._language

    def _advance(self) -> list[StreamEvent]:
        """Do what is due at this position."""
        state, policy = self._state, self._policy
        if not state.gate.is_open:
            return []
        is_over = state.position >= state.gate.speech_end + policy.end_silence
        if state.gate.num_speech_windows < policy.min_speech_windows:
            if is_over:
                state.gate.close()
            return []
        settled_at = state.gate.speech_end + policy.settle_silence
        if is_over:
            return self._finish(settled_at)
        if state.position < state.next_read:
            return []
        if state.position == state.gate.speech_end:
            return self._revise(state.position, policy.beam_size)
        if state.read_until < settled_at <= state.position:
            return self._revise(settled_at, policy.pause_beam_size)
        return []

    def _revise(self, until: int, beam_size: int) -> list[StreamEvent]:
        """Read the window up to `until` and tell which words have settled."""
        state = self._state
        words, is_trusted = self._read(until, beam_size)
        if not is_trusted:
            return self._cut(until)
        num_settled = self._agreement.settle(state.agreement, words, until)
        events = self._commit(words[:num_settled])
        state.tail = words[num_settled:]
        events += self._cut(until)
        events.append(PartialWords(tuple(map(_as_word, state.tail)), until))
        return events

    def _finish(self, until: int) -> list[StreamEvent]:
        """Make everything up to `until` final and end the utterance."""
        state = self._state
        if state.read_until < until:
            words, is_trusted = self._read(until, self._policy.pause_beam_size)
            state.tail = words if is_trusted else max(words, state.tail, key=len)
        events = self._commit(state.tail)
        events.append(PartialWords((), state.position))
        self._move_start(len(state.prefix), until)
        state.tail, state.agreement = (), AgreementState()
        state.floor = max(state.floor, until)
        state.gate.close()
        return events

    def _commit(self, words: Sequence[DecodedWord]) -> list[StreamEvent]:
        state = self._state
        if not words:
            return []
        state.prefix += words
        finals: list[Word] = []
        for word in map(_as_word, words):
            start = max(word.start, state.final_until)
            state.final_until = max(word.end, start)
            finals.append(replace(word, start=start, end=state.final_until))
        return [FinalWords(tuple(finals))]

    def _cut(self, until: int) -> list[StreamEvent]:
        """Move the window's start forward when it is long; tell words that leave it unsettled."""
        state, policy = self._state, self._policy
        length = until - state.window_start
        words = [*state.prefix, *state.tail]
        kept_from = (state.prefix[-1].end if state.prefix else 0) - policy.kept_prefix
        num_cut = 0
        if length > policy.sentence_cut_length:
            ends = (i for i, word in enumerate(state.prefix, 1) if _ends_sentence(word))
            before = (i for i in ends if i < len(words) and words[i].start <= kept_from)
            num_cut = max(before, default=0)
        if not num_cut and length > policy.cut_length:
            num_cut = sum(word.start < kept_from for word in state.prefix)
        if num_cut:
            self._move_start(num_cut, (words[num_cut - 1].end + words[num_cut].start) // 2)
            return []
        if length <= policy.max_length:
            return []
        start = until - policy.cut_length
        num_gone = sum(word.end <= start for word in state.tail)
        events = self._commit(state.tail[:num_gone])
        state.tail, state.agreement = state.tail[num_gone:], AgreementState()
        if state.tail:
            start = min(start, state.tail[0].start)
        self._move_start(len(state.prefix), start)
        return events

    def _move_start(self, num_words: int, start: int) -> None:
        """Let the window begin at `start`, behind the first `num_words` words of its prefix."""
        state = self._state
        gone, state.prefix = state.prefix[:num_words], state.prefix[num_words:]
        context = [*state.context, *(token for word in gone for token in word.tokens)]
        state.context = context[-self._policy.num_context_tokens :]
        state.window_start = max(state.window_start, start)
        state.audio = state.audio[len(state.audio) - (state.position - state.window_start) :].copy()

    def _read(self, until: int, beam_size: int) -> tuple[tuple[DecodedWord, ...], bool]:
        """Return the words behind the prefix up to `until`, and whether to trust them."""
        state, policy = self._state, self._policy
        began_s = self._now_s()
        first = len(state.audio) - (state.position - state.window_start)
        reading = self._reader.read(
            state.audio[first : first + until - state.window_start],
            prefix=[moved(word, -state.window_start) for word in state.prefix],
            context=state.context,
            language=state.language,
            beam_size=1 if state.is_hurried else beam_size,
        )
        if until - state.window_start >= _LANGUAGE_SAMPLES:
            state.language = reading.language
        state.read_until = until
        cost = round((self._now_s() - began_s) * policy.hop_per_cost * SAMPLE_RATE)
        state.next_read = state.position + min(max(policy.min_hop, cost), policy.max_hop)
        words = [self._placed(moved(word, state.window_start), until) for word in reading.words]
        while words and self._is_told(words[0]):
            del words[0]
        return tuple(words), reading.is_trusted

    def _placed(self, word: DecodedWord, until: int) -> DecodedWord:
        """Return the word without the pauses around it, within what was heard."""
        start, end = self._state.gate.speech_within(min(word.start, until), min(word.end, until))
        return replace(word, start=start, end=max(start, end))

    def _is_told(self, word: DecodedWord) -> bool:
        """Whether a word behind the prefix is the prefix's last one said once more."""
        state = self._state
        if not state.prefix:
            return False
        is_same = word_key(word.text) == word_key(state.prefix[-1].text)
        reach = state.final_until + _STITCH_SAMPLES
        return word.end <= reach or (is_same and word.start < reach)


def _ends_sentence(word: DecodedWord) -> bool:
    return word.text.rstrip()[-1:] in _SENTENCE_SIGNS


def _as_word(word: DecodedWord) -> Word:
    return Word(word.text, word.start, word.end, min(1.0, max(0.0, word.probability)))
