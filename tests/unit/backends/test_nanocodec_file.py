"""Files of codes, spoken by small random codecs, to the loudspeaker."""

import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from engine.backends import nanocodec_file, nanocodec_weights, registry
from engine.backends.nanocodec_file import FIRST_CHUNK_FRAMES, NanoCodecFile, decode_frames
from engine.backends.protocols import BackendContext
from engine.backends.protocols_codec import EndReason
from engine.core.errors import BackendError, CancelledError, EngineError, ModelMissingError
from engine.core.events import Event, UtteranceChanged, UtteranceState
from engine.core.sync import CancelToken
from engine.core.timebase import MonotonicClock
from engine.core.types import BackendKind, Pcm
from engine.models.nanocodec.codec import NanoCodec
from engine.models.nanocodec.codes_file import CodesFile, write_codes
from engine.models.nanocodec.config import RELEASED, CodecConfig
from engine.models.nanocodec.layout import CodeLayout, convert_codes
from engine.models.nanocodec.stream import CodecStream
from engine.pipeline.playback import PlaybackHooks, SpeakLane
from tests.conformance.common import check_life, check_spec
from tests.helpers.backends import load, no_models
from tests.helpers.output_bench import Loudspeaker
from tests.helpers.speech import ENDS
from tests.helpers.speech import RATE as VOICE_RATE

pytestmark = pytest.mark.unit

SMALL = {
    codec_id: replace(config, base_channels=32, encoder_channels=2)
    for codec_id, config in RELEASED.items()
}
CONFIG = next(iter(SMALL.values()))
CONTEXT = BackendContext(model_path=no_models, allow_untrained=True)
DECODERS = ("stateful", "lookback")


@pytest.fixture(autouse=True)
def _small_codecs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nanocodec_weights, "RELEASED", SMALL)


def codes_of(config: CodecConfig, num_frames: int, seed: int = 0) -> np.ndarray:
    levels = np.tile(np.asarray(config.levels), config.num_groups)
    return np.random.default_rng(seed).integers(0, levels, (num_frames, len(levels)))


def write(
    path: Path,
    num_frames: int = 30,
    config: CodecConfig = CONFIG,
    layout: CodeLayout = CodeLayout.PER_DIMENSION,
) -> np.ndarray:
    codes = codes_of(config, num_frames)
    laid_out = convert_codes(codes, CodeLayout.PER_DIMENSION, layout, config)
    write_codes(path, CodesFile(config.codec_id, layout, laid_out))
    return codes


def make(decoder: str = "stateful") -> NanoCodecFile:
    backend = registry.create(
        BackendKind.SYNTHESIZER, f"nanocodec-file:{decoder}", CONTEXT, plugins=()
    )
    load(backend)
    assert isinstance(backend, NanoCodecFile)
    return backend


def whole_decode(config: CodecConfig, codes: np.ndarray) -> Pcm:
    """Return the decode in one piece, not faded, as quiet as random weights must be."""
    codec, gain = nanocodec_weights.CodecWeights(CONTEXT).codec(config.codec_id)
    frames = torch.from_numpy(codes).T[None]
    return gain * codec.decode_from_codes(frames, torch.tensor([len(codes)]))[0].numpy()


def spoken(backend: NanoCodecFile, text: str) -> Pcm:
    return np.concatenate([chunk.pcm for chunk in backend.open_stream().speak(text)])


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("layout", CodeLayout)
@pytest.mark.parametrize("config", SMALL.values(), ids=("21Hz", "12Hz", "12Hz-small"))
def test_speak_when_given_a_file_then_is_its_whole_decode_faded_out(
    tmp_path: Path, decoder: str, layout: CodeLayout, config: CodecConfig
) -> None:
    codes = write(tmp_path / "codes.npz", 45, config, layout)
    sound = spoken(make(decoder), str(tmp_path / "codes.npz"))
    whole = whole_decode(config, codes)
    assert len(sound) == len(whole)
    np.testing.assert_allclose(sound[:-220], whole[:-220], atol=1e-6)
    assert sound[-1] == 0.0
    assert np.abs(whole[-1]) > 0.0


@pytest.mark.parametrize("decoder", DECODERS)
def test_speak_when_chunks_grow_then_the_first_is_small_and_all_say_how_far(
    tmp_path: Path, decoder: str
) -> None:
    write(tmp_path / "codes.npz", 60)
    chunks = list(make(decoder).open_stream().speak(str(tmp_path / "codes.npz")))
    assert 0 < len(chunks[0].pcm) <= FIRST_CHUNK_FRAMES * CONFIG.samples_per_frame
    assert max(len(chunk.pcm) for chunk in chunks) <= 0.25 * 22_050
    fractions = [chunk.fraction for chunk in chunks]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert {(chunk.text_start, chunk.text_end) for chunk in chunks} == {
        (0, len(str(tmp_path / "codes.npz")))
    }


def test_untrained_when_spoken_then_is_said_to_be_and_plays_at_minus_40_db(tmp_path: Path) -> None:
    write(tmp_path / "codes.npz", 40)
    backend = make()
    check_spec(backend, BackendKind.SYNTHESIZER, "nanocodec-file")
    assert not backend.spec.is_trained
    assert backend.spec.models == ()
    sound = spoken(backend, str(tmp_path / "codes.npz"))
    level_db = 20 * np.log10(np.std(sound))
    assert -43.0 < level_db < -37.0


def test_backend_when_weights_are_missing_and_random_ones_not_allowed_then_says_so() -> None:
    backend = nanocodec_file.create(BackendContext(model_path=no_models), "")
    assert backend.spec.is_trained
    assert backend.spec.models == ("nemo-nano-codec-22khz-1.89kbps-21.5fps",)
    with pytest.raises(ModelMissingError):
        load(backend)


def test_backend_when_not_loaded_or_closed_opens_no_stream() -> None:
    check_life(nanocodec_file.create(CONTEXT, ""))


def test_create_when_the_decoder_is_unknown_then_names_those_there_are() -> None:
    with pytest.raises(BackendError, match="stateful, lookback"):
        nanocodec_file.create(CONTEXT, "psychic")
    options = replace(CONTEXT, options=(("decoder", "lookback"),))
    assert nanocodec_file.create(options, "")._decoding.name == "lookback"


def _short(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def _save(path: Path, **arrays: object) -> None:
    values = {"codec_id": CONFIG.codec_id, "layout": "per_dim", "codes": codes_of(CONFIG, 9)}
    np.savez(path, **{**values, **arrays})


BAD_CODES = codes_of(CONFIG, 9)
BAD_CODES[4, 3] = 6


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        pytest.param(_short, "cut short", id="cut short"),
        pytest.param(lambda path: path.write_bytes(b""), "cannot be read", id="empty"),
        pytest.param(lambda path: path.unlink(), "no file", id="missing"),
        pytest.param(
            lambda path: _save(path, codes=BAD_CODES), "Code 6 in dimension 3", id="range"
        ),
        pytest.param(lambda path: _save(path, codes=-BAD_CODES), "out of range", id="negative"),
        pytest.param(lambda path: _save(path, codes=BAD_CODES * 0.5), "no integers", id="floats"),
        pytest.param(lambda path: _save(path, codes=BAD_CODES[0]), "axes", id="one axis"),
        pytest.param(lambda path: _save(path, codes=BAD_CODES[:, :31]), "32 columns", id="narrow"),
        pytest.param(lambda path: _save(path, codes=BAD_CODES[:0]), "no codes", id="no frames"),
        pytest.param(lambda path: _save(path, codec_id="x" * 999), "not known", id="codec"),
        pytest.param(lambda path: _save(path, layout="spiral"), "unknown layout", id="layout"),
    ],
)
def test_speak_when_the_file_is_bad_then_says_what_and_goes_on(
    tmp_path: Path, spoil: object, message: str
) -> None:
    path, good = tmp_path / "codes.npz", tmp_path / "good.npz"
    write(path)
    write(good)
    spoil(path)  # type: ignore[operator]
    stream = make().open_stream()
    with pytest.raises(EngineError, match=message) as caught:
        list(stream.speak(str(path)))
    assert len(str(caught.value)) < 600
    assert list(stream.speak(str(good)))


@pytest.mark.parametrize(
    "text", ["", " \n\t", "a\x00b", "a\x07b", "x" * 10_000, "x" * 3000, "a \ud800", "/", "Hello."]
)
def test_speak_when_the_text_is_no_path_then_says_so(text: str) -> None:
    with pytest.raises(EngineError) as caught:
        list(make().open_stream().speak(text))
    assert caught.value.message


def test_cancel_when_speaking_then_ends_before_the_next_chunk(tmp_path: Path) -> None:
    write(tmp_path / "codes.npz", 200)
    stream = make().open_stream()
    speech = stream.speak(str(tmp_path / "codes.npz"))
    next(speech)
    stream.cancel()
    assert list(speech) == []
    early = stream.speak(str(tmp_path / "codes.npz"))
    stream.cancel()
    assert list(early) == []


def test_load_when_cancelled_then_raises_so() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        nanocodec_file.create(CONTEXT, "").load(lambda *_: None, cancel)


class Frames:
    """A model that writes frames until it is stopped for a reason."""

    codec_id = CONFIG.codec_id
    layout = CodeLayout.PER_DIMENSION
    num_frames = None

    def __init__(self, codes: np.ndarray, reason: EndReason) -> None:
        self._left = codes
        self._reason = reason

    @property
    def end_reason(self) -> EndReason | None:
        return None if len(self._left) else self._reason

    def read(self, num_frames: int) -> np.ndarray:
        codes, self._left = self._left[:num_frames], self._left[num_frames:]
        return codes


@pytest.mark.parametrize("num_frames", [2, 6, 14, 15])
@pytest.mark.parametrize("reason", EndReason)
def test_frames_when_they_end_for_any_reason_and_on_a_chunk_then_the_end_is_faded(
    num_frames: int, reason: EndReason, caplog: pytest.LogCaptureFixture
) -> None:
    codec = NanoCodec(untrained=CONFIG)
    codec.load("cpu")
    codes = codes_of(CONFIG, num_frames)
    chunks = decode_frames(Frames(codes, reason), CodecStream(codec), 8, CancelToken())
    sound = np.concatenate([pcm for pcm, _ in chunks])
    assert len(sound) == num_frames * CONFIG.samples_per_frame
    assert sound[-1] == 0.0
    assert ("ended early" in caplog.text) == (reason is not EndReason.STOP)


@pytest.mark.parametrize("decoder", DECODERS)
def test_file_when_spoken_to_the_loudspeaker_then_every_sample_is_heard_as_decoded(
    tmp_path: Path, decoder: str
) -> None:
    codes = write(tmp_path / "codes.npz", 20)
    backend, clock, ended = make(decoder), MonotonicClock(), threading.Event()
    output, last = Loudspeaker(clock, VOICE_RATE), []
    output.start()

    def post(event: Event) -> None:
        if isinstance(event, UtteranceChanged) and event.state in ENDS:
            last.append(event)
            ended.set()

    lane = SpeakLane(
        PlaybackHooks(
            wait_for_voice=lambda _cancel: (backend.spec, backend.open_stream()),
            open_output=lambda: output,
            post=post,
            gate=lambda: None,
            now_s=clock.now_s,
        )
    )
    lane.speak(str(tmp_path / "codes.npz"))
    assert ended.wait(30)
    lane.close()
    whole = whole_decode(CONFIG, codes)
    assert last[0].state is UtteranceState.DONE
    assert last[0].heard_samples == len(output.sound) == len(whole)
    np.testing.assert_allclose(output.sound[:-220], whole[:-220], atol=1e-6)
    assert output.sound[-1] == 0.0


def test_options_when_set_then_lookback_fade_and_silence_follow_them(tmp_path: Path) -> None:
    path = tmp_path / "codes.npz"
    codes = write(path, 60)
    options = (("decoder", "lookback"), ("lookback", "0"), ("fade_ms", "0"), ("silence_ms", "100"))
    backend = nanocodec_file.create(replace(CONTEXT, options=options), "")
    load(backend)
    sound = spoken(backend, str(path))
    whole = whole_decode(CONFIG, codes)

    assert len(sound) == len(whole) + 2205
    assert not sound[-2205:].any()
    assert sound[len(whole) - 1] != 0.0
    # Without its past a window is an approximation: plainly not the whole decode.
    assert np.abs(sound[: len(whole)] - whole).max() > 1e-5
