"""Looks values up in a nested configuration, and says which is missing or of the wrong kind."""

import re
from collections.abc import Mapping
from typing import Any

from engine.core.errors import ModelLoadError

_REFERENCE = re.compile(r"\$\{([A-Za-z0-9_.]+)\}")
_MAX_REFERENCES = 8
_LARGEST = 1_000_000
"""Of any model's sizes; larger ones would ask for all memory before a tensor is looked at."""
_ADVICE = "Check that it is the checkpoint you mean, and fetch it again if it is."


class ConfigKeys:
    """A section of a configuration. Nothing is looked at but what is asked for.

    A value of the form `${a.b}` stands for the value of b in section a of the whole.
    """

    def __init__(
        self,
        content: Mapping[str, Any],
        where: str,
        prefix: str = "",
        root: Mapping[str, Any] | None = None,
    ) -> None:
        """Wrap a section.

        Args:
            content: of the section.
            where: file or folder, for messages.
            prefix: path to the section, with a dot at its end.
            root: the whole configuration; None if this is it.
        """
        self._content = content
        self.where = where
        self._prefix = prefix
        self._root = content if root is None else root

    @property
    def names(self) -> frozenset[str]:
        """Of all values in the section."""
        return frozenset(str(name) for name in self._content)

    def has(self, name: str) -> bool:
        """Whether the section has a value that is not null."""
        return self._content.get(name) is not None

    def section(self, name: str) -> "ConfigKeys":
        """Return a section inside this one."""
        value = self._value(name)
        if not isinstance(value, Mapping):
            raise self._wrong(name, value, "a section")
        return ConfigKeys(value, self.where, f"{self._prefix}{name}.", self._root)

    def integer(self, name: str, default: int | None = None) -> int:
        """Return a whole number."""
        value = self._value(name, default)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not -_LARGEST <= value <= _LARGEST or value != int(value):
            raise self._wrong(name, value, f"a whole number, at most {_LARGEST}")
        return int(value)

    def number(self, name: str, default: float | None = None) -> float:
        """Return a number."""
        value = self._value(name, default)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not -_LARGEST <= value <= _LARGEST:
            raise self._wrong(name, value, f"a number, at most {_LARGEST}")
        return float(value)

    def flag(self, name: str, default: bool | None = None) -> bool:
        """Return a truth value."""
        value = self._value(name, default)
        if not isinstance(value, bool):
            raise self._wrong(name, value, "true or false")
        return value

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text."""
        value = self._value(name, default)
        if not isinstance(value, str):
            raise self._wrong(name, value, "a text")
        return value

    def require(self, name: str, expected: object, default: object = None) -> None:
        """Check that a value is the only one that is supported.

        Raises:
            ModelLoadError: it is another.
        """
        value = self._value(name, expected if default is None else default)
        if value != expected:
            raise ModelLoadError(
                f"This variant of the model is not supported: {self._prefix}{name} is {value!r} in"
                f" {self.where}; only {expected!r} is.",
                advice="Choose a Nemotron 3 Diarization or Nemotron 3.5 Transcribe checkpoint.",
            )

    def _value(self, name: str, default: object = None) -> Any:
        value = self._content.get(name)
        for _ in range(_MAX_REFERENCES):
            match = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
            if match is None:
                break
            value = self._lookup(match.group(1))
        if value is None:
            value = default
        if value is None:
            raise ModelLoadError(
                f"The configuration of {self.where} lacks {self._prefix}{name}.", advice=_ADVICE
            )
        return value

    def _lookup(self, path: str) -> Any:
        value: Any = self._root
        for name in path.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        return value

    def _wrong(self, name: str, value: object, expected: str) -> ModelLoadError:
        return ModelLoadError(
            f"{self._prefix}{name} must be {expected} in the configuration of {self.where}, but is"
            f" {value!r:.80}.",
            advice=_ADVICE,
        )
