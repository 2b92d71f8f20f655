"""The settings of the live recognizer, in one place."""

from dataclasses import dataclass

from engine.core.timebase import samples
from engine.models.voice_activity import SAMPLE_RATE


def _samples(seconds: float) -> int:
    return samples(seconds, SAMPLE_RATE)


@dataclass(frozen=True, slots=True)
class LivePolicy:
    """The trade between delay, cost and errors. Times in samples unless the name says else.

    Args:
        pre_roll: audio kept from before the detector's onset.
        lead: silence put in front of every window; the model reads unclear words better with it.
        padding: silence behind the audio at least.
        min_frames: mel frames encoded at least. With 600 the model repeats short sentences,
            with 1000 it is less sure than with 1500, and 3000 costs four times as much.
        frame_quantum: encoder lengths are multiples of this many mel frames.
        end_silence: the pause that ends an utterance.
        settle_silence: the pause after which the words before it are read once more.
        min_speech_windows: utterances with less speech are clicks.
        min_hop: audio between two decodes at least.
        hop_per_cost: audio between two decodes, in multiples of the time a decode takes.
        max_hop: audio between two decodes at most, also when behind.
        hurry_backlog: with so much audio waiting, readings are greedy: the cheapest there are.
        min_distance: see `engine.text.agreement.AgreementPolicy`.
        edge_hold: see there.
        doubtful_hold: see there.
        doubtful_probability: see there.
        cut_length: a longer window is cut in front of its last final words.
        sentence_cut_length: a longer window is cut behind a sentence.
        kept_prefix: final words left in a window that is cut, by length.
        max_length: a window this long is cut even where nothing has settled.
        num_context_tokens: how much of the text before the window is given to the decoder.
        beam_size: of a decode while speech goes on; 1 is greedy.
        pause_beam_size: of the decode at a pause.
        no_speech_probability: above it, a reading that is not fairly sure is dropped.
        fair_log_probability: what "fairly sure" is: natural log, mean of a token.
        min_log_probability: an utterance read less surely than this is dropped.
    """

    pre_roll: int = _samples(0.3)
    lead: int = _samples(0.3)
    padding: int = _samples(1.5)
    min_frames: int = 1500
    frame_quantum: int = 100
    end_silence: int = _samples(0.6)
    settle_silence: int = _samples(0.25)
    min_speech_windows: int = 3
    min_hop: int = _samples(0.32)
    hop_per_cost: float = 1.2
    max_hop: int = _samples(3.0)
    hurry_backlog: int = _samples(6.0)
    min_distance: int = _samples(0.9)
    edge_hold: int = _samples(0.8)
    doubtful_hold: int = _samples(1.8)
    doubtful_probability: float = 0.7
    cut_length: int = _samples(7.0)
    sentence_cut_length: int = _samples(5.0)
    kept_prefix: int = _samples(1.5)
    max_length: int = _samples(14.0)
    num_context_tokens: int = 96
    beam_size: int = 3
    pause_beam_size: int = 5
    no_speech_probability: float = 0.6
    fair_log_probability: float = -0.5
    min_log_probability: float = -1.7

    @classmethod
    def for_files(cls) -> "LivePolicy":
        """Return the settings for audio that nobody waits for: few, long, careful readings."""
        return cls(
            end_silence=_samples(0.8),
            settle_silence=_samples(0.8),
            min_hop=_samples(7.0),
            hop_per_cost=0.0,
            max_hop=_samples(7.0),
            sentence_cut_length=_samples(13.0),
            cut_length=_samples(16.0),
            max_length=_samples(22.0),
            beam_size=5,
        )

    @property
    def latency(self) -> int:
        """Audio behind a word that must be heard until it is final, where readings agree."""
        return self.edge_hold + self.min_distance
