"""Streams of codes, from any layout, to their last sample."""

import numpy as np
import pytest
import torch

from engine.core.errors import BackendError
from engine.models.nanocodec.codec import NanoCodec
from engine.models.nanocodec.layout import CodeLayout, CodesError, convert_codes
from engine.models.nanocodec.stream import CodecStream, StreamDecoding
from engine.models.nanocodec.tail import apply_end_of_speech_tail
from tests.unit.models.nanocodec.small import SMALL, random_codes

CONFIG = SMALL[0]
FRAMES = random_codes(CONFIG, 60)[0].T.numpy()


@pytest.fixture(scope="module")
def codec() -> NanoCodec:
    made = NanoCodec(untrained=CONFIG)
    made.load("cpu")
    return made


@pytest.fixture(scope="module")
def whole(codec: NanoCodec) -> np.ndarray:
    audio = codec.decode_from_codes(torch.from_numpy(FRAMES).T[None], torch.tensor([60]))[0]
    return apply_end_of_speech_tail(audio, 22_050, 10.0, 30.0).numpy()


@pytest.mark.parametrize("decoding", StreamDecoding)
@pytest.mark.parametrize("layout", CodeLayout)
@pytest.mark.parametrize("chunk", [1, 10, 60])
def test_stream_when_decoded_in_chunks_then_whole_decode_faded(
    codec: NanoCodec,
    whole: np.ndarray,
    decoding: StreamDecoding,
    layout: CodeLayout,
    chunk: int,
) -> None:
    stream = CodecStream(codec, layout=layout, decoding=decoding, silence_ms=30.0)
    parts = []
    # 60 is a multiple of all chunks: the clip ends where a chunk does.
    for start in range(0, 60, chunk):
        frames = FRAMES[start : start + chunk]
        parts.append(stream.push(convert_codes(frames, CodeLayout.PER_DIMENSION, layout, CONFIG)))
    assert stream.num_frames == 60
    parts.append(stream.finish())
    audio = np.concatenate(parts)
    assert audio.dtype == np.float32
    assert audio.shape == whole.shape
    assert np.abs(audio - whole).max() < 5e-6
    # Behind the fade there is silence and nothing else.
    assert np.abs(parts[-1][-661 - 1 :]).max() == 0.0


@pytest.mark.parametrize("decoding", StreamDecoding)
def test_stream_when_finished_then_next_clip_knows_nothing_of_it(
    codec: NanoCodec, decoding: StreamDecoding
) -> None:
    stream = CodecStream(codec, decoding=decoding)
    first = np.concatenate((stream.push(FRAMES[:9]), stream.finish()))
    stream.push(FRAMES[20:40])
    stream.reset()
    again = np.concatenate((stream.push(FRAMES[:9]), stream.finish()))
    assert np.array_equal(first, again)


@pytest.mark.parametrize("decoding", StreamDecoding)
def test_stream_when_a_code_is_out_of_range_then_named_and_stream_goes_on(
    codec: NanoCodec, whole: np.ndarray, decoding: StreamDecoding
) -> None:
    stream = CodecStream(codec, decoding=decoding)
    head = stream.push(FRAMES[:30])
    bad = FRAMES[30:32].copy()
    bad[1, 9] = 7
    with pytest.raises(CodesError, match="Code 7 in dimension 9 of frame 1"):
        stream.push(bad)
    audio = np.concatenate((head, stream.push(FRAMES[30:50])))
    assert np.abs(audio - whole[: len(audio)]).max() < 5e-6


def test_stream_when_lookback_is_short_then_audibly_wrong(
    codec: NanoCodec, whole: np.ndarray
) -> None:
    stream = CodecStream(codec, decoding=StreamDecoding.LOOKBACK, lookback=8)
    audio = np.concatenate([stream.push(FRAMES[start : start + 10]) for start in range(0, 60, 10)])
    assert np.abs(audio - whole[: len(audio)]).max() > 1e-3


def test_stream_when_nothing_comes_then_nothing_is_heard(codec: NanoCodec) -> None:
    stream = CodecStream(codec)
    assert len(stream.push(FRAMES[:0])) == 0
    assert len(stream.finish()) == 0


def test_stream_when_codec_is_not_loaded_then_error() -> None:
    with pytest.raises(BackendError, match="not loaded"):
        CodecStream(NanoCodec(untrained=CONFIG))
