"""Checkpoints laid out like the published ones, and broken in many ways."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

from engine.core.errors import EngineError, ModelFileError, ModelLoadError, ModelMissingError
from engine.models.checkpoints import (
    load_speaker_model,
    load_tower,
    untrained_speaker_model,
    untrained_tower,
)
from engine.models.tower_config import TowerConfig
from tests.unit.models.tower_models import (
    nemo_diarizer_config,
    nemo_diarizer_tensors,
    nemo_tensors,
    nemo_whole_config,
    noise,
    tiny_config,
    tiny_speaker_config,
    tiny_speaker_model,
    tiny_tower,
    transformers_diarizer_config,
    transformers_tensors,
    transformers_whole_config,
    write_checkpoint,
)

Tensors = dict[str, torch.Tensor]
ENCODER = "perception.encoder.asr_encoder.layers.0."


def _write_nemo(folder: Path, change: Callable[[Tensors], object] | None = None) -> Path:
    tensors = nemo_tensors(tiny_tower())
    if change is not None:
        change(tensors)
    return write_checkpoint(folder, nemo_whole_config(tiny_config()), tensors)


def _same_weights(a: nn.Module, b: nn.Module) -> bool:
    ours, theirs = a.state_dict(), b.state_dict()
    return ours.keys() == theirs.keys() and all(
        torch.equal(ours[name], theirs[name]) for name in ours
    )


@pytest.mark.parametrize("num_shards", [1, 3])
def test_tower_when_named_as_in_nemo_comes_back_as_it_was(tmp_path: Path, num_shards: int) -> None:
    tower = tiny_tower()
    folder = write_checkpoint(
        tmp_path, nemo_whole_config(tiny_config()), nemo_tensors(tower), num_shards
    )
    loaded = load_tower(folder)
    assert _same_weights(loaded, tower)
    signals, lengths = [noise(40_000)], torch.tensor([40_000])
    assert torch.equal(loaded.encode(signals, lengths)[0], tower.encode(signals, lengths)[0])
    assert not any(parameter.requires_grad for parameter in loaded.parameters())


@pytest.mark.parametrize("num_shards", [1, 3])
def test_tower_when_named_as_in_transformers_comes_back_with_tables_from_the_configuration(
    tmp_path: Path, num_shards: int
) -> None:
    tower = tiny_tower()
    write_checkpoint(
        tmp_path, transformers_whole_config(tiny_config()), transformers_tensors(tower), num_shards
    )
    (tmp_path / "processor_config.json").write_text(
        json.dumps({"feature_extractor": {"mel_filters_dtype": "float32", "feature_size": 16}})
    )
    assert _same_weights(load_tower(tmp_path), tower)


def test_speakers_when_alone_come_back_under_either_kind_of_names(tmp_path: Path) -> None:
    model, config = tiny_speaker_model(), tiny_speaker_config()
    nemo = write_checkpoint(
        tmp_path / "nemo", nemo_diarizer_config(config), nemo_diarizer_tensors(model)
    )
    theirs = write_checkpoint(
        tmp_path / "hf", transformers_diarizer_config(config), transformers_tensors(model), 2
    )
    assert _same_weights(load_speaker_model(nemo), model)
    assert _same_weights(load_speaker_model(theirs), model)


def test_speakers_when_inside_the_whole_model_are_taken_out_of_it(tmp_path: Path) -> None:
    tower = tiny_tower()
    nemo = write_checkpoint(
        tmp_path / "nemo", nemo_whole_config(tiny_config()), nemo_tensors(tower)
    )
    theirs = write_checkpoint(
        tmp_path / "hf", transformers_whole_config(tiny_config()), transformers_tensors(tower)
    )
    branch = tower.encoder.diarization_model
    assert _same_weights(load_speaker_model(nemo).diarization_model, branch)
    assert _same_weights(load_speaker_model(theirs).diarization_model, branch)


def test_tower_when_other_parts_lie_in_files_of_their_own_does_not_open_those(
    tmp_path: Path,
) -> None:
    tensors = nemo_tensors(tiny_tower())
    ours = {name: value for name, value in tensors.items() if name.startswith("perception.")}
    write_checkpoint(tmp_path, nemo_whole_config(tiny_config()), ours, 2)
    index = tmp_path / "model.safetensors.index.json"
    content = json.loads(index.read_text())
    content["weight_map"]["llm.model.layers.0.mlp.weight"] = "model-00099.safetensors"
    index.write_text(json.dumps(content))
    assert _same_weights(load_tower(tmp_path), tiny_tower())


def test_tower_when_branches_are_wanted_in_other_precisions_is_cast(tmp_path: Path) -> None:
    loaded = load_tower(_write_nemo(tmp_path), asr_dtype=torch.bfloat16)
    assert loaded.proj.weight.dtype == torch.bfloat16
    assert loaded.encoder.asr_encoder.dtype == torch.bfloat16
    assert loaded.encoder.diarization_model.encoder.dtype == torch.float32
    assert loaded.preprocessor.featurizer.fb.dtype == torch.float32


def test_tower_when_stored_coarsely_is_computed_in_float32(tmp_path: Path) -> None:
    def coarsen(tensors: Tensors) -> None:
        tensors |= {
            name: value.bfloat16() for name, value in tensors.items() if value.is_floating_point()
        }

    loaded = load_tower(_write_nemo(tmp_path, coarsen))
    assert {parameter.dtype for parameter in loaded.parameters()} == {torch.float32}
    window = tiny_tower().preprocessor.featurizer.window
    assert torch.equal(loaded.preprocessor.featurizer.window, window.bfloat16().float())


def test_load_when_watched_tells_how_far_it_is(tmp_path: Path) -> None:
    told: list[float] = []
    load_tower(_write_nemo(tmp_path), progress=told.append)
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0.0, 1.0)


def _quantized(weight: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    rows, columns = weight.shape
    spread = scale.reshape(1, 1) if scale.numel() == 1 else scale.reshape(scale.shape[0], -1)
    if scale.numel() not in (1, rows):
        spread = scale.repeat_interleave(128, 0)[:rows].repeat_interleave(128, 1)[:, :columns]
    return (weight / spread).to(torch.float8_e4m3fn)


@pytest.mark.parametrize(
    ("suffix", "scale"),
    [
        ("_scale", torch.tensor(0.01)),
        ("_scale", torch.linspace(0.01, 0.02, 192)),
        ("_scale", torch.linspace(0.01, 0.02, 192)[:, None]),
        ("_scale_inv", torch.tensor([[0.01], [0.02]])),
    ],
    ids=["tensor", "row", "column", "block"],
)
def test_tower_when_stored_in_fp8_is_brought_back(
    tmp_path: Path, suffix: str, scale: torch.Tensor
) -> None:
    name = f"{ENCODER}attn.w_qkv.weight"

    def quantize(tensors: Tensors) -> None:
        tensors[name] = _quantized(tensors[name], scale)
        tensors[name + suffix] = scale
        tensors[f"{ENCODER}attn.w_qkv.input_scale"] = torch.tensor(0.5)

    loaded = load_tower(_write_nemo(tmp_path, quantize)).encoder.asr_encoder.layers[0]
    exact = tiny_tower().encoder.asr_encoder.layers[0]
    torch.testing.assert_close(
        loaded.attn.w_qkv.weight, exact.attn.w_qkv.weight, atol=0.01, rtol=0.07
    )


def test_tower_when_thirds_of_a_matrix_have_scales_of_their_own_brings_each_back(
    tmp_path: Path,
) -> None:
    tensors = transformers_tensors(tiny_tower())
    for third, factor in zip("qkv", (0.01, 0.02, 0.03), strict=True):
        name = f"model.audio_tower.asr_encoder.layers.1.self_attn.{third}_proj.weight"
        tensors[f"{name}_scale"] = torch.tensor(factor)
        tensors[name] = _quantized(tensors[name], tensors[f"{name}_scale"])
    folder = write_checkpoint(tmp_path, transformers_whole_config(tiny_config()), tensors)
    loaded = load_tower(folder).encoder.asr_encoder.layers[1].attn.w_qkv.weight
    exact = tiny_tower().encoder.asr_encoder.layers[1].attn.w_qkv.weight
    torch.testing.assert_close(loaded, exact, atol=0.02, rtol=0.07)


def _drop(name: str) -> Callable[[Tensors], object]:
    return lambda tensors: tensors.pop(name)


def _put(name: str, value: torch.Tensor) -> Callable[[Tensors], object]:
    return lambda tensors: tensors.update({name: value})


def _nvfp4(tensors: Tensors) -> None:
    name = f"{ENCODER}ffn.net.0.weight"
    tensors[name] = torch.zeros(128, 32, dtype=torch.uint8)
    tensors[f"{name}_scale"] = torch.zeros(128, 4).to(torch.float8_e4m3fn)
    tensors[f"{name}_scale_2"] = torch.tensor(1.0)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_drop("perception.proj.bias"), "1 tensors are missing: proj.bias"),
        (_put("perception.encoder.extra.weight", torch.ones(2)), "encoder.extra.weight"),
        (_put("perception.proj.bias", torch.ones(2)), "proj.bias has shape (2,), not (48,)"),
        (_put("perception.proj.bias", torch.full((48,), torch.nan)), "proj.bias holds NaN"),
        (_put("perception.proj.bias", torch.full((48,), torch.inf)), "proj.bias holds NaN or inf"),
        (_put("perception.proj.bias", torch.ones(48, dtype=torch.int8)), "proj.bias is stored as"),
        (_nvfp4, "ffn.net.0.weight is stored as NVFP4"),
        (_put(f"{ENCODER}attn.w_qkv.weight", torch.ones(192, 64).to(torch.float8_e4m3fn)), "FP8"),
    ],
    ids=["missing", "extra", "shape", "nan", "infinite", "integer", "nvfp4", "no scale"],
)
def test_tower_when_a_tensor_is_wrong_names_it(
    tmp_path: Path, change: Callable[[Tensors], object], told: str
) -> None:
    with pytest.raises(ModelLoadError) as caught:
        load_tower(_write_nemo(tmp_path, change))
    assert told in caught.value.message
    assert caught.value.advice


def test_tower_when_an_fp8_scale_does_not_fit_names_the_tensor(tmp_path: Path) -> None:
    name = f"{ENCODER}attn.w_qkv.weight"

    def quantize(tensors: Tensors) -> None:
        tensors[name] = tensors[name].to(torch.float8_e4m3fn)
        tensors[f"{name}_scale"] = torch.ones(7)

    with pytest.raises(ModelLoadError, match=r"w_qkv.weight .* scale of shape \(7,\)"):
        load_tower(_write_nemo(tmp_path, quantize))


def test_tower_when_a_third_of_a_matrix_is_missing_names_it(tmp_path: Path) -> None:
    tensors = transformers_tensors(tiny_tower())
    del tensors["model.audio_tower.asr_encoder.layers.0.self_attn.k_proj.weight"]
    folder = write_checkpoint(tmp_path, transformers_whole_config(tiny_config()), tensors)
    with pytest.raises(ModelLoadError, match=r"w_qkv\.weight lacks its k part"):
        load_tower(folder)


def test_load_weights_when_something_is_wrong_leaves_everything_as_it_was() -> None:
    tower, other = tiny_tower(seed=1), tiny_tower(seed=2)
    weights = list(other.state_dict().items())
    with pytest.raises(ModelLoadError, match="2 tensors are missing"):
        tower.load_weights(weights[:-2])
    assert _same_weights(tower, tiny_tower(seed=1))
    with pytest.raises(ModelLoadError, match="is there twice"):
        tower.load_weights([*weights, weights[3]])
    assert _same_weights(tower, tiny_tower(seed=1))


def test_load_weights_when_all_is_there_returns_the_names_and_keeps_its_own_memory() -> None:
    tower, other = tiny_tower(seed=1), tiny_tower(seed=2)
    unused = ("encoder.diarization_model.preprocessor.featurizer.fb", torch.zeros(1))
    state = [("encoder.asr_encoder._extra_state", torch.zeros(1)), unused]
    assert tower.load_weights([*other.state_dict().items(), *state]) == set(other.state_dict())
    assert _same_weights(tower, other)
    other.proj.bias.fill_(7.0)
    assert not _same_weights(tower, other)


def test_load_weights_when_the_tables_are_not_there_keeps_those_of_the_configuration() -> None:
    tower = tiny_tower(seed=1)
    weights = {k: v for k, v in tiny_tower(seed=2).state_dict().items() if "featurizer" not in k}
    tower.load_weights(weights.items())
    assert _same_weights(tower, tiny_tower(seed=2))


def _truncate(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-500])


def _truncate_header(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:100])


def _spoil_config(folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "nemo')


def _empty_config(folder: Path) -> None:
    (folder / "config.json").write_text("[1, 2]")


def _web_page(folder: Path) -> None:
    (folder / "model.safetensors").write_text("<!doctype html><title>404</title>" * 9)


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (_truncate, "model.safetensors"),
        (_truncate_header, "model.safetensors"),
        (_web_page, "model.safetensors"),
        (_spoil_config, "config.json"),
        (_empty_config, "config.json"),
    ],
)
def test_load_when_a_file_is_damaged_names_it(
    tmp_path: Path, spoil: Callable[[Path], None], told: str
) -> None:
    spoil(_write_nemo(tmp_path))
    with pytest.raises(ModelFileError, match=told):
        load_tower(tmp_path)


def _index(folder: Path, content: object) -> None:
    (folder / "model.safetensors.index.json").write_text(json.dumps(content))


def test_load_when_the_index_is_hostile_or_wrong_is_refused(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, nemo_whole_config(tiny_config()), nemo_tensors(tiny_tower()), 2)
    _index(tmp_path, {"weight_map": {"perception.proj.bias": "../../etc/passwd"}})
    with pytest.raises(ModelFileError, match="outside its folder"):
        load_tower(tmp_path)
    _index(tmp_path, {"weights": {}})
    with pytest.raises(ModelFileError, match="no weight_map"):
        load_tower(tmp_path)
    _index(tmp_path, {"weight_map": {"perception.proj.bias": "absent.safetensors"}})
    with pytest.raises(ModelMissingError, match=r"absent.safetensors"):
        load_tower(tmp_path)
    _index(tmp_path, {"weight_map": {"perception.x": "model-00001-of-00002.safetensors"}})
    with pytest.raises(ModelFileError, match=r"perception.x cannot be read"):
        load_tower(tmp_path)


@pytest.mark.parametrize("load", [load_tower, load_speaker_model])
def test_load_when_nothing_is_there_says_what_is_missing(
    tmp_path: Path, load: Callable[[Path], object]
) -> None:
    for path in (tmp_path / "nowhere", tmp_path, tmp_path / "nowhere.nemo"):
        with pytest.raises(ModelMissingError) as caught:
            load(path)
        assert str(path) in caught.value.message
    write_checkpoint(tmp_path, nemo_whole_config(tiny_config()), {"a": torch.ones(1)})
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(ModelMissingError, match=r"neither model.safetensors nor"):
        load(tmp_path)


def test_load_when_it_is_another_model_says_so(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, nemo_whole_config(tiny_config()), {"llm.x": torch.ones(1)})
    with pytest.raises(EngineError, match="neither an audio tower nor a speaker branch"):
        load_tower(tmp_path)


def test_tower_when_only_speakers_are_there_says_so(tmp_path: Path) -> None:
    tensors = nemo_diarizer_tensors(tiny_speaker_model())
    folder = write_checkpoint(tmp_path, nemo_diarizer_config(tiny_speaker_config()), tensors)
    with pytest.raises(ModelLoadError, match="the speaker branch alone"):
        load_tower(folder)


def test_file_when_given_instead_of_its_folder_is_read_too(tmp_path: Path) -> None:
    folder = _write_nemo(tmp_path)
    assert _same_weights(load_tower(folder / "model.safetensors"), tiny_tower())


def test_untrained_when_the_seed_is_the_same_is_the_same() -> None:
    config = tiny_config()
    assert _same_weights(untrained_tower(config, 3), untrained_tower(config, 3))
    assert not _same_weights(untrained_tower(config, 3), untrained_tower(config, 4))
    before = torch.random.get_rng_state()
    untrained_speaker_model(tiny_speaker_config(), 3)
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.slow
def test_tower_when_of_released_size_is_made_written_and_read(tmp_path: Path) -> None:
    config = TowerConfig()
    tensors = {
        name: value.bfloat16() for name, value in nemo_tensors(untrained_tower(config)).items()
    }
    folder = write_checkpoint(tmp_path, nemo_whole_config(config), tensors, 4)
    del tensors
    tower = load_tower(folder)
    speakers = load_speaker_model(folder)
    assert sum(parameter.numel() for parameter in tower.parameters()) == 733_559_832
    assert sum(parameter.numel() for parameter in speakers.parameters()) == 99_226_504
    (clip,) = tower.encode_clips([noise(32_000)], torch.tensor([32_000]))
    assert clip.embeddings.shape == (25, 2688)
    assert bool(torch.isfinite(clip.embeddings).all())
