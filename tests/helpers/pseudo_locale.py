"""A language of its own for tests: every text longer, with signs English does not have."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QCoreApplication, QTranslator

from app.i18n import CONTEXT

GROWTH = 0.35
"""By how much a text grows; German needs about that much more room than English."""

_SIGNS = str.maketrans("AOUaou", "ÄÖÜäöü")
# What stands in braces, and the `&` before a menu's key, mean something.
_KEPT = re.compile(r"(\{[^{}]*\}|&\w)")


def pseudo(text: str) -> str:
    """Return a text as this language has it: "[Äüstrüm {name} ~~~~]"."""
    parts = [p if _KEPT.fullmatch(p) else p.translate(_SIGNS) for p in _KEPT.split(text)]
    # The brackets are part of what a text grows by.
    padding = max(1, round(GROWTH * len(text)) - 3)
    # In words, so that lines can be broken as in any language.
    words = ["~~~~~"] * (padding // 6) + ["~" * (padding % 6 or 1)]
    return f"[{''.join(parts)} {' '.join(words)}]"


class PseudoTranslator(QTranslator):
    """Translates every text of the window, whether it was ever seen before or not."""

    def translate(  # type: ignore[override]
        self, context: str, source: str, disambiguation: str | None = None, n: int = -1
    ) -> str | None:
        del disambiguation, n
        # Only None lets Qt go on to the next translator.
        return pseudo(source) if context == CONTEXT and source else None

    def isEmpty(self) -> bool:
        # Qt asks nothing of a translator that says it has no texts.
        return False


@contextmanager
def pseudo_locale() -> Iterator[None]:
    """Speak this language while the block runs; only texts asked for in it are affected."""
    translator = PseudoTranslator()
    QCoreApplication.installTranslator(translator)
    try:
        yield
    finally:
        QCoreApplication.removeTranslator(translator)
