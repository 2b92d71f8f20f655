"""Weights of the tower: read when they are needed, on a device that works."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from engine.core.errors import BackendError, ModelLoadError
from engine.models.checkpoints import (
    load_speaker_model,
    load_tower,
    untrained_speaker_model,
    untrained_tower,
)
from engine.models.gpu import gpu_reason
from engine.models.packed_linear import pack_linears
from engine.models.sortformer_stream import SpeakerModel
from engine.models.tower_config import TowerConfig
from engine.models.tower_stream import LiveTower
from engine.models.transcribe_tower import Nemotron3_5TranscribeAudioTower

logger = logging.getLogger(__name__)

CPU = "CPU"
_SEED = 3
_MEL_FRAMES_AN_ENCODER_FRAME_MS = 80
Tell = Callable[[float], None]


class LoadedTower:
    """The weights of a checkpoint. On a GPU the whole tower; on a CPU what was asked for.

    Args:
        path: folder or archive; None for random weights of the released size.
        num_threads: compute threads.
        may_use_gpu: False where the GPU has failed.
    """

    def __init__(self, path: Path | None, num_threads: int, *, may_use_gpu: bool = True) -> None:
        self.num_threads = num_threads
        self.device = CPU
        self.note = ""
        self._may_use_gpu = may_use_gpu
        self.config = TowerConfig()
        self._path = path
        self._speaker: SpeakerModel | None = None
        self._tower: Nemotron3_5TranscribeAudioTower | None = None

    def load_live(self, tell: Tell) -> None:
        """Read what a live stream without embeddings needs.

        Raises:
            ModelMissingError, ModelFileError, ModelLoadError: with what to do.
        """
        if self._load_on_gpu(tell):
            return
        if self._path is None:
            tell(0.0)
            self._speaker = untrained_speaker_model(self.config, _SEED)
        else:
            self._speaker = load_speaker_model(self._path, progress=tell)
        self.config = self._speaker.config
        _check_frames(self.config)
        pack_linears(self._speaker)

    def load_whole(self, tell: Tell) -> None:
        """Read what clips need.

        Raises:
            ModelMissingError, ModelFileError, ModelLoadError: with what to do.
        """
        if not self._load_on_gpu(tell):
            self.config = self.tower(tell).config
            _check_frames(self.config)

    def tower(self, tell: Tell) -> Nemotron3_5TranscribeAudioTower:
        """Return the whole tower; it is read the first time, and takes over the speaker branch.

        Raises:
            ModelFileError, ModelLoadError: with what to do.
        """
        if self._tower is None:
            if self._path is None:
                tell(0.0)
                self._tower = untrained_tower(TowerConfig(), _SEED)
            else:
                self._tower = load_tower(self._path, progress=tell)
            pack_linears(self._tower)
            self._speaker = None
        return self._tower

    def live(self, *, with_embeddings: bool) -> LiveTower:
        """Return what a stream works with.

        Raises:
            BackendError: nothing was loaded.
            ModelLoadError: the checkpoint has no recognition branch.
        """
        if with_embeddings:
            return LiveTower.of_tower(self.tower(lambda fraction: None))
        if self._speaker is not None:
            return LiveTower.of_speaker_model(self._speaker)
        if self._tower is not None:
            return LiveTower.of_tower(self._tower, with_embeddings=False)
        raise BackendError("The audio tower is not loaded yet.", advice="Load it first.")

    def _load_on_gpu(self, tell: Tell) -> bool:
        if not self._may_use_gpu or not torch.cuda.is_available():
            return False
        tower = None
        try:
            tower = self.tower(tell).cast(asr=torch.bfloat16).to("cuda")
            # A GPU that is listed can still be broken or full: one real window decides.
            tower.encode_clips([torch.zeros(16_000)], torch.tensor([16_000]))
        except (RuntimeError, ModelLoadError) as error:
            logger.warning(
                "the GPU cannot be used (%s); the tower runs on the CPU", gpu_reason(error)
            )
            self._tower = None
            self.note = f"The audio tower runs without the GPU: {gpu_reason(error)}."
            return False
        self.device, self.config = torch.cuda.get_device_name(), tower.config
        _check_frames(self.config)
        return True


@contextmanager
def torch_threads(num_threads: int) -> Iterator[None]:
    """Give torch so many threads meanwhile; work on a GPU takes no notice."""
    before = torch.get_num_threads()
    if before != num_threads:
        torch.set_num_threads(num_threads)
    try:
        yield
    finally:
        if before != num_threads:
            torch.set_num_threads(before)


def _check_frames(config: TowerConfig) -> None:
    mel = config.preprocessor
    hop = mel.hop_length * config.speaker_encoder.subsampling_factor
    if hop * 1000 != mel.sample_rate * _MEL_FRAMES_AN_ENCODER_FRAME_MS:
        raise ModelLoadError(
            f"The audio tower has frames of {hop} samples at {mel.sample_rate} Hz, not of 80 ms.",
            advice="Choose a Nemotron 3.5 Transcribe checkpoint.",
        )
