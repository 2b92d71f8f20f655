"""Finds a codec's file and reads geometry and tensors from it: `.nemo` or safetensors."""

from dataclasses import dataclass
from pathlib import Path

from engine.core.errors import ModelFileError, ModelMissingError
from engine.models.checkpoint_files import SafetensorsSource
from engine.models.nanocodec.archive import NemoArchive
from engine.models.nanocodec.config import RELEASED, CodecConfig, config_from_nemo
from engine.models.nanocodec.weights import CodecWeights

_PARTS = ("audio_decoder.", "audio_encoder.")
_ADVICE = "Fetch it, or give the path of its .nemo or .safetensors file."


@dataclass(frozen=True, slots=True)
class CodecFile:
    """Where a codec's weights are.

    Args:
        path: a `.nemo` file, a safetensors file, or a folder with one of either.
        codec_id: the codec's name; gives the geometry of safetensors, which have none inside.
    """

    path: Path
    codec_id: str

    def resolved(self) -> Path:
        """Return the file itself.

        Raises:
            ModelMissingError: there is none, or it is not clear which.
        """
        if not self.path.is_dir():
            if not self.path.is_file():
                raise ModelMissingError(
                    f"The codec {self.codec_id} is not at {self.path}.", advice=_ADVICE
                )
            return self.path
        for suffix in (".nemo", ".safetensors"):
            found = sorted(self.path.glob(f"*{suffix}"))
            if len(found) == 1:
                return found[0]
        raise ModelMissingError(
            f"{self.path} does not hold one .nemo or .safetensors file of {self.codec_id}.",
            advice=_ADVICE,
        )

    @property
    def is_archive(self) -> bool:
        """Whether it is a `.nemo` file."""
        return self.resolved().suffix != ".safetensors"

    def read_config(self) -> CodecConfig:
        """Return the geometry.

        Raises:
            ModelMissingError, ModelFileError, ModelLoadError: it cannot be read, or is another
                network.
        """
        if self.is_archive:
            return config_from_nemo(NemoArchive(self.resolved()).read_config(), self.codec_id)
        if self.codec_id not in RELEASED:
            raise ModelFileError(
                f"Nothing says what shape the codec {self.codec_id} in {self.path} has.",
                advice=f"Use a .nemo file, or one of: {', '.join(RELEASED)}.",
            )
        return RELEASED[self.codec_id]

    def read_weights(self) -> CodecWeights:
        """Return encoder and decoder tensors; discriminators are left where they are.

        Raises:
            ModelMissingError, ModelFileError: the file cannot be read, or is not what it should.
        """
        path = self.resolved()
        if self.is_archive:
            tensors = NemoArchive(path).read_tensors()
            wanted = {name: value for name, value in tensors.items() if name.startswith(_PARTS)}
        else:
            source = SafetensorsSource(path)
            wanted = {name: source.read(name) for name in source.names if name.startswith(_PARTS)}
        return CodecWeights(wanted, path.name)


def cached_codec_file(codec_id: str) -> CodecFile:
    """Return the file of a published codec that was downloaded before; uses no network.

    Raises:
        ModelMissingError: it was not downloaded.
    """
    from huggingface_hub import try_to_load_from_cache

    name = codec_id.rpartition("/")[2]
    try:
        found = try_to_load_from_cache(codec_id, f"{name}.nemo")
    except ValueError:  # not the form of a hub name
        found = None
    if not isinstance(found, str):
        raise ModelMissingError(f"The codec {codec_id} is not on this machine.", advice=_ADVICE)
    return CodecFile(Path(found), codec_id)
