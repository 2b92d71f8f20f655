"""Texts of the window in the user's language."""

import logging
from datetime import datetime

from PySide6.QtCore import QCoreApplication, QLocale

logger = logging.getLogger(__name__)
CONTEXT = "vivavoce"
"""The context all texts are translated in."""


def tr(text: str, /, **values: object) -> str:
    """Return a text in the user's language, with values put into its `{braces}`.

    Call it when the text is shown, not when a module is loaded: translators come later.

    Args:
        text: a whole sentence or label; never put together from parts.
        values: what the braces stand for; without any, braces are left as they are.
    """
    return _fill(QCoreApplication.translate(CONTEXT, text), text, values)


def tr_n(one: str, many: str, n: int, /, **values: object) -> str:
    """Return a text that counts something, as `tr`; the count is the value `n`.

    Args:
        one: the English text for a single thing, "{n} word".
        many: the English text for any other number, "{n} words"; translators find it under
            this text, with as many forms as their language has.
        n: the count, 0 or more.
        values: further values.
    """
    source = one if n == 1 else many
    found = QCoreApplication.translate(CONTEXT, many, "", n)
    # Untranslated, Qt gives the text back as it is, whatever the number.
    translated = source if found == many else found
    return _fill(translated, source, {"n": n, **values})


def short_date(moment: datetime) -> str:
    """Return day, month and time of day, with the month's name in the user's language."""
    month = QLocale().standaloneMonthName(moment.month, QLocale.FormatType.ShortFormat)
    return tr(
        "{day} {month} {year}, {time}",
        day=f"{moment:%d}",
        month=month,
        year=f"{moment:%Y}",
        time=f"{moment:%H:%M}",
    )


def _fill(translated: str, source: str, values: dict[str, object]) -> str:
    if not values:
        return translated
    try:
        return translated.format(**values)
    except (AttributeError, LookupError, ValueError, TypeError) as error:
        # A slip in a translation costs that sentence, not the window.
        logger.debug("a translation of %r cannot be used: %s", source, error)
        return source.format(**values)
