"""Windowed encoding by the audio tower of Nemotron 3.5 Transcribe.

Live, each window of 40 s is told as *settled* speaker activity as soon as the 4 s behind it are
there; that takes the speaker branch alone. Whole clips become the embeddings that the Transcribe
language model reads; the recognition branch that this needs is large, so that on a CPU it is read
when it is first asked for.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.backends.protocols import (
    ON_CPU,
    BackendContext,
    BackendSpec,
    EncodedAudio,
    EncoderStream,
    ProgressCallback,
)
from engine.core.config import Statistics
from engine.core.errors import BackendError, ModelMissingError
from engine.core.files import expanded
from engine.core.sync import CancelToken
from engine.core.types import BackendKind, Pcm
from engine.models.tower_config import TowerConfig

if TYPE_CHECKING:
    from engine.backends.tower_load import LoadedTower

MODEL_ID = "nemotron-3.5-transcribe-tower"
FOR_CLIPS = ("use", "clips")
"""Option of the context: the whole tower is wanted from the beginning."""
FRAME_MS = 80
_MEL_LOOKAHEAD = 256
"""Samples behind a mel frame's centre that its window sees."""


class TowerEncoder:
    """The backend "tower"."""

    def __init__(self, context: BackendContext, argument: str) -> None:
        self._context = context
        self._path = None if argument in ("", MODEL_ID) else expanded(argument)
        self._is_untrained: bool | None = None
        self._loaded: LoadedTower | None = None
        if self._path is not None and not self._path.exists():
            raise ModelMissingError(
                f"There is no checkpoint at {self._path}.",
                advice="Name a folder with config.json and safetensors files, or a .nemo archive.",
            )

    @property
    def spec(self) -> BackendSpec:
        """What it is; the windows and the device are known once it is loaded."""
        config = TowerConfig() if self._loaded is None else self._loaded.config
        mel, online = config.preprocessor, config.online
        hop = mel.hop_length * config.speaker_encoder.subsampling_factor
        window = online.window_frames + online.right_context_frames
        is_untrained = self._uses_random_weights()
        return BackendSpec(
            id="tower",
            title="Nemotron 3.5 Transcribe audio tower",
            kinds=(BackendKind.ENCODER, BackendKind.DIARIZER),
            sample_rate=mel.sample_rate,
            block_size=hop,
            latency=window * hop + _MEL_LOOKAHEAD,
            frame_ms=FRAME_MS,
            capabilities=("settled", "overlap", "embeddings"),
            licence="OpenMDW-1.1",
            models=() if is_untrained or self._path is not None else (MODEL_ID,),
            is_trained=not is_untrained,
            device="CPU" if self._loaded is None else self._loaded.device,
            note="" if self._loaded is None else self._loaded.note,
        )

    def load(self, progress: ProgressCallback, cancel: CancelToken) -> None:
        """Read the weights that its use needs here.

        Raises:
            ModelMissingError, ModelFileError, ModelLoadError: with what to do.
            CancelledError: cancel was set.
        """
        cancel.check()
        from engine.backends.tower_load import LoadedTower

        path = None if self._uses_random_weights() else self._path
        if path is None and not self._uses_random_weights():
            path = self._context.model_path(MODEL_ID)
        loaded = LoadedTower(
            path, self._context.num_threads, may_use_gpu=ON_CPU not in self._context.options
        )
        load = loaded.load_whole if FOR_CLIPS in self._context.options else loaded.load_live
        load(_telling(progress, cancel))
        self._loaded = loaded
        progress(1.0, "Ready")

    def open_stream(self, *, with_embeddings: bool = False) -> EncoderStream:
        """Return a new stream at time 0.

        Args:
            with_embeddings: encode for `take_encoded`, too; on a CPU the recognition branch is
                read for it, which takes a while.

        Raises:
            BackendError: not loaded.
            ModelLoadError: the checkpoint has no recognition branch.
        """
        from engine.backends.tower_stream import TowerStream

        loaded = self._require()
        return TowerStream(loaded.live(with_embeddings=with_embeddings), loaded.num_threads)

    def encode(
        self,
        pcm: Pcm,
        statistics: Statistics,
        progress: ProgressCallback,
        cancel: CancelToken,
    ) -> EncodedAudio:
        """Encode a whole clip; see `engine.backends.protocols.Encoder.encode`."""
        loaded = self._require()
        cancel.check()
        from engine.backends.tower_clip import encode_clip

        tower = loaded.tower(_telling(progress, cancel))

        def tell(fraction: float) -> None:
            cancel.check()
            progress(fraction, "Encoding")

        return encode_clip(tower, pcm, statistics, loaded.num_threads, tell)

    def gpu_bytes(self) -> int:
        """Return the GPU memory of the whole process; 0 while it is on the CPU."""
        if self._loaded is None or self._loaded.device == "CPU":
            return 0
        from engine.models.gpu import held_bytes

        return held_bytes()

    def close(self) -> None:
        """Give memory back; idempotent."""
        self._loaded = None

    def _require(self) -> "LoadedTower":
        if self._loaded is None:
            raise BackendError("The audio tower is not loaded yet.", advice="Load it first.")
        return self._loaded

    def _uses_random_weights(self) -> bool:
        """Return whether there are no weights, and random ones are allowed."""
        if self._is_untrained is None:
            self._is_untrained = (
                self._context.allow_untrained and self._path is None and self._is_missing()
            )
        return self._is_untrained

    def _is_missing(self) -> bool:
        try:
            self._context.model_path(MODEL_ID)
        except ModelMissingError:
            return True
        return False


def _telling(progress: ProgressCallback, cancel: CancelToken) -> Callable[[float], None]:
    """Return what weights are read with: it tells how far that is, and gives up when asked to."""

    def tell(fraction: float) -> None:
        cancel.check()
        progress(fraction, "Loading the audio tower")

    return tell


def create(context: BackendContext, argument: str = "") -> TowerEncoder:
    """Return the backend, not loaded.

    Args:
        context: options: see `FOR_CLIPS`.
        argument: a checkpoint's folder or `.nemo` archive; empty for `MODEL_ID`.

    Raises:
        ModelMissingError: there is nothing at that path.
    """
    return TowerEncoder(context, argument)
