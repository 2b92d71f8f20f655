"""The live policy on a scripted decoder: what is told when, and that nothing is lost or doubled."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from engine.backends.whisper_policy import LivePolicy
from engine.backends.whisper_stream import WhisperStream
from engine.core.events import FinalWords, PartialWords, StreamEvent
from engine.core.types import Pcm, Word, join_words
from engine.models.whisper_decoder import DecodedWord, Hypothesis
from tests.unit.backends.whisper_fakes import RATE, LevelDetector, ScriptDecoder, audio_for, script

pytestmark = pytest.mark.unit

SENTENCE = "the quick brown fox jumps over the lazy dog and runs away from all of them"


def push_all(stream: WhisperStream, pcm: Pcm, block: int = 1600) -> list[StreamEvent]:
    events: list[StreamEvent] = []
    for at in range(0, len(pcm), block):
        events += stream.push(pcm[at : at + block])
    return events


def finals(events: Sequence[StreamEvent]) -> list[Word]:
    return [word for event in events if isinstance(event, FinalWords) for word in event.words]


def last_partial(events: Sequence[StreamEvent]) -> str:
    partials = [event for event in events if isinstance(event, PartialWords)]
    return join_words(partials[-1].words)


def test_push_when_speech_goes_on_then_old_words_are_final_and_new_ones_partial() -> None:
    words = script(SENTENCE)
    stream = WhisperStream(ScriptDecoder(words), LevelDetector())
    events = push_all(stream, audio_for(words, 8.0)[: 5 * RATE])
    settled = join_words(finals(events))
    assert settled.startswith("the quick brown")
    assert SENTENCE.startswith(settled + " " + last_partial(events))
    assert last_partial(events)


def test_push_when_a_word_is_final_then_enough_was_heard_behind_it() -> None:
    words = script(SENTENCE)
    policy = LivePolicy()
    stream = WhisperStream(ScriptDecoder(words), LevelDetector(), policy=policy)
    pcm = audio_for(words, 8.0)
    speech_end = round(words[-1].end_s * RATE)
    for at in range(0, speech_end - 512, 512):
        for word in finals(stream.push(pcm[at : at + 512])):
            assert word.end <= at + 512 - policy.edge_hold


def test_push_when_a_pause_comes_then_the_utterance_is_final() -> None:
    words = script(SENTENCE)
    stream = WhisperStream(ScriptDecoder(words), LevelDetector())
    end_s = words[-1].end_s + 0.7
    events = push_all(stream, audio_for(words, end_s))
    assert join_words(finals(events)) == SENTENCE
    assert last_partial(events) == ""


def test_push_when_words_change_near_the_edge_then_only_the_settled_form_is_final() -> None:
    words = script(SENTENCE)
    decoder = ScriptDecoder(words, changes=dict.fromkeys(range(0, len(words), 2), " hm"))
    stream = WhisperStream(decoder, LevelDetector())
    events = push_all(stream, audio_for(words, 6.0))
    assert "hm" not in join_words(finals(events))
    assert len(finals(events)) >= 5


@pytest.mark.parametrize("block", [160, 7777, 160_000])
def test_push_when_blocks_are_cut_differently_then_events_are_the_same(block: int) -> None:
    words = script(SENTENCE)
    pcm = audio_for(words, 9.0)
    one = WhisperStream(ScriptDecoder(words), LevelDetector())
    other = WhisperStream(ScriptDecoder(words), LevelDetector())
    expected = [*push_all(one, pcm, 1600), *one.flush()]
    assert [*push_all(other, pcm, block), *other.flush()] == expected


def test_push_when_speech_is_long_then_every_word_comes_once_and_windows_stay_short() -> None:
    words = script(" ".join(f"w{i}" for i in range(150)))
    decoder = ScriptDecoder(words)
    stream = WhisperStream(decoder, LevelDetector())
    events = [*push_all(stream, audio_for(words, 62.0)), *stream.flush()]
    assert [word.text for word in finals(events)] == [word.text for word in words]
    assert max(call.num_samples for call in decoder.calls) < 11 * RATE
    assert max(len(call.context) for call in decoder.calls) <= LivePolicy().num_context_tokens


@dataclass
class Fickle(ScriptDecoder):
    """Never reads the same twice."""

    def decode(self, pcm: Pcm, **request: Any) -> Hypothesis:
        hypothesis = super().decode(pcm, **request)
        mark = f"-{len(self.calls)}"
        words = tuple(replace(word, text=word.text + mark) for word in hypothesis.words)
        return replace(hypothesis, words=words)


def test_push_when_nothing_ever_settles_then_no_word_is_lost_and_windows_stay_short() -> None:
    words = script(" ".join(f"w{i}" for i in range(100)))
    decoder = Fickle(words)
    stream = WhisperStream(decoder, LevelDetector())
    told = finals([*push_all(stream, audio_for(words, 42.0)), *stream.flush()])
    names = [word.text.split("-")[0] for word in told]
    assert names == [word.text for word in words]
    limit = LivePolicy().max_length + LivePolicy().min_hop
    assert max(call.num_samples for call in decoder.calls) < limit + RATE


@dataclass
class Looping(ScriptDecoder):
    """Repeats one word without end."""

    def decode(self, pcm: Pcm, **request: Any) -> Hypothesis:
        super().decode(pcm, **request)
        word = DecodedWord(" so", (5,), 8000, 9000, 0.99)
        return Hypothesis((word,) * 30)


def test_push_when_the_decoder_only_loops_then_one_round_is_told_and_windows_stay_short() -> None:
    words = script(" ".join(f"w{i}" for i in range(100)))
    decoder = Looping(words)
    stream = WhisperStream(decoder, LevelDetector())
    told = finals([*push_all(stream, audio_for(words, 42.0)), *stream.flush()])
    assert len(told) <= 1
    assert max(call.num_samples for call in decoder.calls) < 16 * RATE


def test_push_when_a_window_is_cut_then_final_words_go_on_steering_it() -> None:
    words = script(" ".join(f"w{i}" for i in range(60)))
    decoder = ScriptDecoder(words)
    push_all(WhisperStream(decoder, LevelDetector()), audio_for(words, 25.0))
    after_cut = [call for call in decoder.calls if call.context]
    assert after_cut
    assert all(call.prefix for call in after_cut)


def test_push_when_word_times_are_told_then_they_never_go_back() -> None:
    words = script(" ".join(f"w{i}" for i in range(60)))
    stream = WhisperStream(ScriptDecoder(words), LevelDetector())
    told = finals([*push_all(stream, audio_for(words, 26.0)), *stream.flush()])
    for before, after in pairwise(told):
        assert before.start <= before.end <= after.start <= after.end
    for word, spoken in zip(told, words, strict=True):
        assert abs(word.start - spoken.start_s * RATE) <= 512
        assert abs(word.end - spoken.end_s * RATE) <= 512


def test_push_when_silent_then_nothing_is_decoded_or_told() -> None:
    decoder = ScriptDecoder([])
    stream = WhisperStream(decoder, LevelDetector())
    assert push_all(stream, np.zeros(20 * RATE, dtype=np.float32)) == []
    assert list(stream.flush()) == []
    assert decoder.calls == []


def test_push_when_only_a_click_is_loud_then_it_is_not_decoded() -> None:
    decoder = ScriptDecoder(script("never"))
    stream = WhisperStream(decoder, LevelDetector())
    pcm = np.zeros(4 * RATE, dtype=np.float32)
    pcm[RATE : RATE + 600] = 0.5
    assert finals(push_all(stream, pcm)) == []
    assert decoder.calls == []


def test_push_when_model_hears_no_speech_then_its_words_are_dropped() -> None:
    words = script("thank you for watching")
    decoder = ScriptDecoder(words, no_speech_probability=0.9, mean_log_probability=-1.2)
    stream = WhisperStream(decoder, LevelDetector())
    events = [*push_all(stream, audio_for(words, 5.0)), *stream.flush()]
    assert decoder.calls
    assert finals(events) == []


def test_flush_when_a_word_ends_just_before_then_it_is_told() -> None:
    words = script("stop it right here now")
    stream = WhisperStream(ScriptDecoder(words), LevelDetector())
    pcm = audio_for(words, words[-1].end_s + 0.1)
    events = push_all(stream, pcm)
    assert len(finals(events)) < 5
    assert join_words(finals([*events, *stream.flush()])) == "stop it right here now"


def test_flush_when_speech_is_shorter_than_a_detector_window_then_it_is_read() -> None:
    words = script("go", start_s=1.0, word_s=0.02)
    stream = WhisperStream(ScriptDecoder(words), LevelDetector())
    events = push_all(stream, audio_for(words, 1.02))
    assert join_words(finals([*events, *stream.flush()])) == "go"


def test_flush_when_audio_goes_on_then_time_goes_on() -> None:
    words = [*script("first part", start_s=1.0), *script("second part", start_s=3.0)]
    pcm = audio_for(words, 5.0)
    cut = round(2.1 * RATE) + 77
    stream = WhisperStream(ScriptDecoder(words), LevelDetector())
    first = finals([*stream.push(pcm[:cut]), *stream.flush()])
    second = finals([*stream.push(pcm[cut:]), *stream.flush()])
    assert join_words(first) == "first part"
    assert join_words(second) == "second part"
    assert abs(second[0].start - 3 * RATE) <= 1024


def test_flush_when_nothing_is_held_back_then_no_event() -> None:
    stream = WhisperStream(ScriptDecoder([]), LevelDetector())
    assert list(stream.flush()) == []
    assert list(stream.flush()) == []


def test_reset_when_in_mid_speech_then_time_and_text_begin_anew() -> None:
    words = script(SENTENCE)
    pcm = audio_for(words, 9.0)
    fresh = WhisperStream(ScriptDecoder(words), LevelDetector())
    used = WhisperStream(ScriptDecoder(words), LevelDetector())
    push_all(used, pcm[: 4 * RATE])
    used.reset()
    assert push_all(used, pcm) == push_all(fresh, pcm)


def test_two_streams_when_pushed_in_turns_then_each_has_its_own_text() -> None:
    words = script(SENTENCE)
    decoder, detector = ScriptDecoder(words), LevelDetector()
    pcm = audio_for(words, 9.0)
    alone = push_all(WhisperStream(ScriptDecoder(words), detector), pcm)
    one, other = WhisperStream(decoder, detector), WhisperStream(decoder, detector)
    events: list[StreamEvent] = []
    for at in range(0, len(pcm), 1600):
        events += one.push(pcm[at : at + 1600])
        other.push(pcm[at // 2 : at // 2 + 800])
    assert events == alone


def test_set_backlog_when_behind_then_fewer_decodes_and_the_same_words() -> None:
    words = script(SENTENCE)
    pcm = audio_for(words, 9.0)
    prompt, late = ScriptDecoder(words), ScriptDecoder(words)
    push_all(WhisperStream(prompt, LevelDetector()), pcm)
    behind = WhisperStream(late, LevelDetector())
    events: list[StreamEvent] = []
    for at in range(0, len(pcm), 1600):
        behind.set_backlog(RATE)
        events += behind.push(pcm[at : at + 1600])
    assert len(late.calls) < 0.7 * len(prompt.calls)
    assert join_words(finals(events)) == SENTENCE


def test_set_backlog_when_far_behind_then_reads_greedily_until_it_has_caught_up() -> None:
    words = script(SENTENCE)
    pcm = audio_for(words, 9.0)
    decoder = ScriptDecoder(words)
    stream = WhisperStream(decoder, LevelDetector())
    for backlog, part in ((8 * RATE, pcm[: 4 * RATE]), (0, pcm[4 * RATE :])):
        first = len(decoder.calls)
        for at in range(0, len(part), 1600):
            stream.set_backlog(backlog)
            stream.push(part[at : at + 1600])
        beams = {call.beam_size for call in decoder.calls[first:]}
        assert (beams == {1}) == (backlog > 0)


def test_push_when_decodes_take_long_then_they_come_less_often() -> None:
    words = script(SENTENCE)
    pcm = audio_for(words, 9.0)
    prompt, slow = ScriptDecoder(words), ScriptDecoder(words)
    push_all(WhisperStream(prompt, LevelDetector()), pcm)
    clock = iter(range(1000))  # every reading of the clock is a second later
    push_all(WhisperStream(slow, LevelDetector(), now_s=lambda: float(next(clock))), pcm)
    assert len(slow.calls) < 0.5 * len(prompt.calls)


def test_push_when_language_is_unknown_then_it_is_detected_and_kept_for_the_utterance() -> None:
    words = script(SENTENCE)
    decoder = ScriptDecoder(words, language="de")
    push_all(WhisperStream(decoder, LevelDetector()), audio_for(words, 7.0))
    assert decoder.calls[0].language is None
    assert decoder.calls[-1].language == "de"


def test_push_when_language_is_chosen_then_every_decode_uses_it() -> None:
    words = script(SENTENCE)
    decoder = ScriptDecoder(words)
    push_all(WhisperStream(decoder, LevelDetector(), language="fr"), audio_for(words, 7.0))
    assert {call.language for call in decoder.calls} == {"fr"}


@pytest.mark.parametrize("num_words", [10, 150])
def test_file_policy_when_nobody_waits_then_few_readings_give_every_word_once(num_words) -> None:
    words = script(" ".join(f"w{i}" for i in range(num_words)))
    decoder = ScriptDecoder(words)
    stream = WhisperStream(decoder, LevelDetector(), policy=LivePolicy.for_files())
    pcm = audio_for(words, words[-1].end_s + 2.0)
    events = [*push_all(stream, pcm), *stream.flush()]

    assert [word.text.strip() for word in finals(events)] == [word.text.strip() for word in words]
    assert len(decoder.calls) <= 1 + len(pcm) / RATE / 6
    assert max(call.num_frames for call in decoder.calls) <= 3000
