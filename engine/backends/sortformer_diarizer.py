"""Who speaks when, by the streaming Sortformer of Nemotron 3 Diarization.

One network that answers live, for up to eight speakers, overlapping ones too. The weights come
from the manifest's model, from a checkpoint's folder or from a `.nemo` archive. How far behind the
audio it answers is a profile (engine.models.stream_profiles): at loading a step is timed, and the
fastest profile is taken that this machine keeps up with.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.backends.protocols import (
    ON_CPU,
    BackendContext,
    BackendSpec,
    ProgressCallback,
    Stream,
)
from engine.backends.sortformer_pace import DEFAULT_PROFILE, FRAME_MS, chosen_profile
from engine.core.errors import BackendError, ModelLoadError, ModelMissingError
from engine.core.files import expanded
from engine.core.sync import CancelToken
from engine.core.types import BackendKind
from engine.models.stream_profiles import PROFILES
from engine.models.tower_config import TowerConfig

if TYPE_CHECKING:
    from engine.models.sortformer_stream import SpeakerModel

MODEL_ID = "nemotron-3-diarization"
TOWER_ID = "nemotron-3.5-transcribe-tower"
"""The speaker branch of the audio tower works as well."""

_SEED = 3
_MEL_LOOKAHEAD = 256
"""Samples behind a mel frame's centre that its window sees."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    model: "SpeakerModel"
    profile: str
    device: str
    note: str


class SortformerDiarizer:
    """The backend "sortformer"."""

    def __init__(self, context: BackendContext, argument: str) -> None:
        self._context = context
        self._path = None if argument in ("", MODEL_ID, TOWER_ID) else expanded(argument)
        self._model_id = argument if self._path is None and argument else MODEL_ID
        self._profile = chosen_profile(dict(context.options))
        self._is_untrained: bool | None = None
        self._loaded: _Loaded | None = None
        if self._path is not None and not self._path.exists():
            raise ModelMissingError(
                f"There is no checkpoint at {self._path}.",
                advice="Name a folder with config.json and safetensors files, or a .nemo archive.",
            )

    @property
    def spec(self) -> BackendSpec:
        """What it is; profile and device are known once it is loaded."""
        config = TowerConfig.speaker_only()
        profile = PROFILES[self._profile or DEFAULT_PROFILE]
        device, note = "CPU", ""
        if self._loaded is not None:
            config = self._loaded.model.config
            profile, device = PROFILES[self._loaded.profile], self._loaded.device
            note = self._loaded.note
        hop = config.preprocessor.hop_length * config.speaker_encoder.subsampling_factor
        is_untrained = self._uses_random_weights()
        return BackendSpec(
            id="sortformer",
            title="Nemotron 3 Diarization (Sortformer)",
            kinds=(BackendKind.DIARIZER,),
            sample_rate=config.preprocessor.sample_rate,
            block_size=hop,
            latency=profile.latency_frames * hop + _MEL_LOOKAHEAD,
            frame_ms=FRAME_MS,
            capabilities=("overlap", "look-ahead"),
            licence="OpenMDW-1.1",
            models=() if is_untrained or self._path is not None else (self._model_id,),
            is_trained=not is_untrained,
            device=device,
            note=note,
        )

    def load(self, progress: ProgressCallback, cancel: CancelToken) -> None:
        """Read the weights, choose a device, and time a step unless the profile is given.

        Raises:
            ModelMissingError, ModelFileError, ModelLoadError: with what to do.
            CancelledError: cancel was set.
        """
        cancel.check()
        from engine.backends.sortformer_load import load_model, measure

        path = self._path
        if path is None and not self._uses_random_weights():
            path = self._context.model_path(self._model_id)
        progress(0.0, "Loading the speaker model")

        def tell(fraction: float) -> None:
            cancel.check()
            progress(0.7 * fraction, "Loading the speaker model")

        may_use_gpu = ON_CPU not in self._context.options
        model, device, note = load_model(path, _SEED, tell, may_use_gpu=may_use_gpu)
        _check_rows(model)
        profile = self._profile
        if profile is None:
            progress(0.7, "Measuring how fast it is here")
            profile = measure(model, self._context.num_threads, self._context.now_s, cancel)
        self._loaded = _Loaded(model, profile, device, note)
        progress(1.0, "Ready")

    def open_stream(self) -> Stream:
        """Return a new stream at time 0.

        Raises:
            BackendError: not loaded.
        """
        if self._loaded is None:
            raise BackendError("The speaker model is not loaded yet.", advice="Load it first.")
        from engine.backends.sortformer_stream import FixedStream, PacingStream

        kind = PacingStream if self._profile is None else FixedStream
        return kind(self._loaded.model, self._loaded.profile, self._context.num_threads)

    def close(self) -> None:
        """Give memory back; idempotent."""
        self._loaded = None

    def gpu_bytes(self) -> int:
        """Return the GPU memory of the whole process; 0 while it is on the CPU."""
        if self._loaded is None or self._loaded.device == "CPU":
            return 0
        from engine.models.gpu import held_bytes

        return held_bytes()

    def _uses_random_weights(self) -> bool:
        """Return whether there are no weights, and random ones are allowed."""
        if self._is_untrained is None:
            self._is_untrained = (
                self._context.allow_untrained and self._path is None and self._is_missing()
            )
        return self._is_untrained

    def _is_missing(self) -> bool:
        try:
            self._context.model_path(self._model_id)
        except ModelMissingError:
            return True
        return False


def _check_rows(model: "SpeakerModel") -> None:
    if model.samples_per_frame * 1000 != model.sample_rate * FRAME_MS:
        raise ModelLoadError(
            f"The speaker model has frames of {model.samples_per_frame} samples at"
            f" {model.sample_rate} Hz, not of {FRAME_MS} ms.",
            advice="Choose a Nemotron 3 Diarization checkpoint.",
        )


def create(context: BackendContext, argument: str = "") -> SortformerDiarizer:
    """Return the backend, not loaded.

    Args:
        context: options: "profile" forces a profile; "pace" "file" prefers few errors to little
            delay.
        argument: a checkpoint's folder or `.nemo` archive, or a model's id; empty for
            `MODEL_ID`.

    Raises:
        ModelMissingError: there is nothing at that path.
        BackendError: there is no such profile.
    """
    return SortformerDiarizer(context, argument)
