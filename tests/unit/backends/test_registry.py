import logging
import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest

from engine.backends import registry
from engine.backends.protocols import BackendContext
from engine.core.errors import BackendError
from engine.core.types import BackendKind
from tests.helpers.backends import no_models

pytestmark = pytest.mark.unit

CONTEXT = BackendContext(model_path=no_models)
KINDS = (BackendKind.RECOGNIZER, BackendKind.DIARIZER, BackendKind.SYNTHESIZER)


def plugin(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, registry.ENTRY_POINT_GROUP)


@pytest.mark.parametrize("kind", KINDS)
def test_available_when_built_in_lists_the_fake_of_each_kind(kind: BackendKind) -> None:
    listings = {listing.id: listing for listing in registry.available(kind, plugins=())}
    assert list(listings) == list(registry.BUILT_INS[kind])
    fake = listings["fake"]
    assert fake.spec is not None
    assert fake.is_available
    assert not fake.spec.is_trained
    assert kind in fake.spec.kinds


def test_available_when_asked_for_codecs_lists_them_with_their_licence() -> None:
    listing = registry.available(BackendKind.CODEC, plugins=())[0]
    assert listing.id == "nanocodec"
    assert listing.spec is not None
    assert "NVIDIA" in listing.spec.licence


def test_create_when_id_is_unknown_names_the_ones_there_are() -> None:
    with pytest.raises(BackendError, match=r'no recognizer called "wisper".*whisper, fake'):
        registry.create(BackendKind.RECOGNIZER, "wisper", CONTEXT, plugins=())


def test_create_when_id_has_an_argument_passes_it_on_whole() -> None:
    passed = []

    class Loaded(EntryPoint):
        def load(self) -> object:
            return lambda context, argument: passed.append((context, argument))

    mine = Loaded("recognizer.mine", "any:thing", registry.ENTRY_POINT_GROUP)
    registry.create(BackendKind.RECOGNIZER, "mine:C:/a/b", CONTEXT, plugins=[mine])
    registry.create(BackendKind.RECOGNIZER, "mine", CONTEXT, plugins=[mine])
    assert passed == [(CONTEXT, "C:/a/b"), (CONTEXT, "")]


def test_plugin_when_well_made_is_listed_after_the_built_ins() -> None:
    mine = plugin("synthesizer.mine", "engine.backends.fake_synthesizer:create")
    listings = registry.available(BackendKind.SYNTHESIZER, plugins=[mine])
    assert listings[-1].id == "mine"
    assert listings[-1].is_available
    assert all(
        listing.id != "mine" for listing in registry.available(BackendKind.DIARIZER, plugins=[mine])
    )


@pytest.mark.parametrize("value", ["no_such_module:create", "engine.core.types:no_such_name"])
def test_plugin_when_broken_is_logged_and_shown_with_its_reason(
    value: str, caplog: pytest.LogCaptureFixture
) -> None:
    broken = plugin("recognizer.broken", value)
    with caplog.at_level(logging.WARNING):
        listing = registry.available(BackendKind.RECOGNIZER, plugins=[broken])[-1]
    assert listing.id == "broken"
    assert not listing.is_available
    assert "no_such" in listing.reason
    assert "broken" in caplog.text
    with pytest.raises(BackendError, match="no_such"):
        registry.create(BackendKind.RECOGNIZER, "broken", CONTEXT, plugins=[broken])


def test_plugin_when_its_name_is_taken_is_ignored(caplog: pytest.LogCaptureFixture) -> None:
    thief = plugin("recognizer.fake", "no_such_module:create")
    with caplog.at_level(logging.WARNING):
        backend = registry.create(BackendKind.RECOGNIZER, "fake", CONTEXT, plugins=[thief])
    assert backend.spec.title == "Test recognizer"
    assert "recognizer.fake is ignored" in caplog.text


def test_available_when_called_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from engine.backends.registry import available\n"
        "from engine.core.types import BackendKind\n"
        "for kind in BackendKind: available(kind)\n"
        "heavy = {'torch', 'onnxruntime', 'ctranslate2', 'faster_whisper', 'piper', 'PySide6'}\n"
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
