"""Texts of the window in the user's language."""

from PySide6.QtCore import QCoreApplication

CONTEXT = "vivavoce"
"""The context all texts are translated in."""


def tr(text: str, /, **values: object) -> str:
    """Return a text in the user's language, with values put into its `{braces}`.

    Call it when the text is shown, not when a module is loaded: translators come later.
    """
    translated = QCoreApplication.translate(CONTEXT, text)
    return translated.format(**values) if values else translated
