"""Names of tensors: those of NeMo's and of transformers' checkpoints, and ours.

Ours are NeMo's without the leading `perception.`: `preprocessor.`, `encoder.asr_encoder.`,
`encoder.diarization_model.`, `encoder.asr_norm.`, `encoder.diar_norm.`, `proj.`. transformers
keeps queries, keys and values apart where we have one matrix.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from engine.core.errors import ModelLoadError
from engine.models.checkpoint_quantization import is_scale

Part = Literal["tower", "speaker"]

_ASR = "encoder.asr_encoder."
_SPEAKER = "encoder.diarization_model."
_HEAD = f"{_SPEAKER}sortformer_modules."

_NEMO_WHOLE = {"perception.": ""}
_NEMO_TOWER = {"preprocessor.": "preprocessor.", "encoder.": "encoder.", "proj.": "proj."}
_NEMO_DIARIZER = {
    "preprocessor.": "preprocessor.",
    "encoder.": f"{_SPEAKER}encoder.",
    "sortformer_modules.": _HEAD,
    "activity_head.": f"{_SPEAKER}activity_head.",
}
_TRANSFORMERS_DIARIZER = {
    "model.audio_tower.": f"{_SPEAKER}encoder.",
    "model.proj.": f"{_HEAD}encoder_proj.",
    "model.upsampler.conv.": f"{_HEAD}subpixel_upsample.",
    "classifier.dense.": f"{_HEAD}first_hidden_to_hidden.",
    "classifier.out_proj.": f"{_HEAD}single_hidden_to_spks.",
    "silence_embeds": f"{_HEAD}learnable_sil_emb",
}
_TRANSFORMERS_TOWER = {
    "asr_encoder.": _ASR,
    "asr_norm.": "encoder.asr_norm.",
    "speaker_norm.": "encoder.diar_norm.",
} | {f"diarization_model.{name}": ours for name, ours in _TRANSFORMERS_DIARIZER.items()}
_TRANSFORMERS_WHOLE = {"model.multi_modal_projector.": "proj."} | {
    f"model.audio_tower.{name}": ours for name, ours in _TRANSFORMERS_TOWER.items()
}

_TRANSFORMERS_LAYERS = (
    (re.compile(r"\.embedder\.projection\."), ".pre_encode.proj."),
    (re.compile(r"\.input_layer_norm\."), ".embed_norm."),
    (re.compile(r"\.layer_norm([12])\."), r".norm\1."),
    (re.compile(r"\.layer_norm\."), ".final_norm."),
    (re.compile(r"\.self_attn\.o_proj\."), ".attn.out_proj."),
    (re.compile(r"\.self_attn\.([qk])_norm\."), r".attn.\1_norm."),
    (re.compile(r"\.mlp\.fc1\."), ".ffn.net.0."),
    (re.compile(r"\.mlp\.fc2\."), ".ffn.net.3."),
)
_TRANSFORMERS_QKV = re.compile(r"\.self_attn\.([qkv])_proj\.")


@dataclass(frozen=True, slots=True)
class _Layout:
    """One of the ways checkpoints name tensors, known by a prefix that no other has."""

    marker: str
    prefixes: Mapping[str, str]
    is_transformers: bool


# In this order: a marker of one may begin names of those below it.
_LAYOUTS = (
    _Layout("perception.", _NEMO_WHOLE, False),
    _Layout("model.audio_tower.asr_encoder.", _TRANSFORMERS_WHOLE, True),
    _Layout("asr_encoder.", _TRANSFORMERS_TOWER, True),
    _Layout("encoder.asr_encoder.", _NEMO_TOWER, False),
    _Layout("sortformer_modules.", _NEMO_DIARIZER, False),
    _Layout("silence_embeds", _TRANSFORMERS_DIARIZER, True),
)


def plan_names(names: Iterable[str], part: Part) -> dict[str, tuple[str, ...]]:
    """Return, for each tensor of ours, the tensors of the checkpoint it is stacked from.

    Tensors of other parts, and the scales of quantised ones, are left out.

    Args:
        names: all the checkpoint has.
        part: "tower" for all of it, "speaker" for `preprocessor.` and `diarization_model.`.

    Raises:
        ModelLoadError: the names are those of another model, or a matrix lacks a third.
    """
    names = sorted(names)
    for layout in _LAYOUTS:
        if any(name.startswith(layout.marker) for name in names):
            break
    else:
        raise ModelLoadError(
            "The checkpoint holds neither an audio tower nor a speaker branch with a learned"
            f" silence: its tensors are {', '.join(names[:4]) or 'none'} and so on.",
            advice="Choose a Nemotron 3 Diarization or Nemotron 3.5 Transcribe checkpoint.",
        )
    thirds: dict[str, dict[str, str]] = {}
    for name in names:
        ours, third = _our_name(name, layout)
        chosen = _in_part(ours, part) if ours is not None and not is_scale(ours) else None
        if chosen is not None:
            thirds.setdefault(chosen, {})[third] = name
    return {ours: _in_order(ours, sources) for ours, sources in thirds.items()}


def _our_name(name: str, layout: _Layout) -> tuple[str | None, str]:
    """Return our name, None if the layout has no place for it, and which third of ours it is."""
    for prefix, ours in layout.prefixes.items():
        if name.startswith(prefix):
            name = ours + name.removeprefix(prefix)
            break
    else:
        return None, ""
    if not layout.is_transformers:
        return name, ""
    for pattern, replacement in _TRANSFORMERS_LAYERS:
        name = pattern.sub(replacement, name)
    match = _TRANSFORMERS_QKV.search(name)
    if match is None:
        return name, ""
    return _TRANSFORMERS_QKV.sub(".attn.w_qkv.", name), match.group(1)


def _in_part(name: str, part: Part) -> str | None:
    if part == "tower":
        return name
    if name.startswith("preprocessor."):
        return name
    return name.removeprefix("encoder.") if name.startswith(_SPEAKER) else None


def _in_order(ours: str, sources: dict[str, str]) -> tuple[str, ...]:
    if "" in sources:
        return (sources[""],)
    absent = [third for third in "qkv" if third not in sources]
    if absent:
        raise ModelLoadError(
            f"The checkpoint is not whole: {ours} lacks its {' and '.join(absent)} part.",
            advice="Fetch it again.",
        )
    return tuple(sources[third] for third in "qkv")
