"""Texts that people type, made fit for one line."""

import re
import unicodedata

_BREAKS = re.compile("[ \t\n\r\f\v\x1c-\x1f\x85\u2028\u2029]+")
_SENSELESS = ("Cc", "Cs")
"""Control characters, and halves of characters, which no file can hold."""


def clean_word(text: str) -> str:
    """Return a word's text without control characters; "" if it is blank.

    Runs of blanks and line ends become one blank; blanks that do not break, and signs that join or
    turn letters, stay.
    """
    text = _BREAKS.sub(" ", text)
    if not text.isprintable():
        text = "".join(c for c in text if unicodedata.category(c) not in _SENSELESS)
    return "" if text.isspace() else text


def clean_line(text: str) -> str:
    """Return a text as `clean_word` does, without outer blanks."""
    return clean_word(text).strip()
