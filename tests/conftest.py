"""Isolation and strictness for every test."""

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from engine.core.config import ENVIRONMENT_PREFIX, folders, load_settings

# Before any test imports Qt.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

# No times in tests, and the same examples each time.
hypothesis.settings.register_profile("project", deadline=None, derandomize=True)
hypothesis.settings.load_profile("project")

CATEGORIES = ("unit", "property", "parity", "integration", "gui")
_CATEGORY_OF_FOLDER = {
    "unit": "unit",
    "property": "property",
    "parity": "parity",
    "integration": "integration",
    "gui": "gui",
    "conformance": "integration",
    "architecture": "integration",
}


def pytest_configure(config: pytest.Config) -> None:
    """Forget the developer's own settings, but not where the models are."""
    config.stash[_MODELS] = folders(load_settings(os.environ), os.environ).models
    for name in list(os.environ):
        if name.startswith(ENVIRONMENT_PREFIX):
            del os.environ[name]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give every test that names no category that of its folder."""
    root = Path(__file__).parent
    for item in items:
        if not any(item.get_closest_marker(name) for name in CATEGORIES):
            folder = item.path.relative_to(root).parts[0]
            item.add_marker(_CATEGORY_OF_FOLDER[folder])


@pytest.fixture(scope="session")
def models_dir(pytestconfig: pytest.Config) -> Path:
    """The folder of the embedded models, fetched by the set-up."""
    return pytestconfig.stash[_MODELS]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, models_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own for settings, recordings and logs; models are shared."""
    place = tmp_path / "home"
    monkeypatch.setenv(f"{ENVIRONMENT_PREFIX}HOME", str(place))
    monkeypatch.setenv(f"{ENVIRONMENT_PREFIX}MODELS_DIR", str(models_dir))
    return place


@pytest.fixture(autouse=True)
def _no_unexpected_log(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test in which our code warned, unless it looks at the log itself (caplog)."""
    if "caplog" in request.fixturenames:
        yield
        return
    handler = _Collector()
    loggers = [logging.getLogger(name) for name in ("engine", "app")]
    for logger in loggers:
        logger.addHandler(handler)
    yield
    for logger in loggers:
        logger.removeHandler(handler)
    if handler.lines and not request.node.get_closest_marker("expects_log"):
        pytest.fail("unexpected log:\n" + "\n".join(handler.lines))


class _Collector(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


_MODELS = pytest.StashKey[Path]()
