"""Texts as people wrote them, made fit for one line, little room, and Qt's way of counting."""


def one_line(text: str) -> str:
    """Return a text that is one line whatever somebody put into it."""
    if text.isprintable():
        return text
    text = text.encode("utf-8", "replace").decode()
    return "".join(" " if char.isspace() or ord(char) < 32 else char for char in text)


def shortened(text: str, max_characters: int) -> str:
    """Return a text for where long ones have no room: it ends in "…" where it is cut."""
    return text if len(text) <= max_characters else f"{text[: max_characters - 1]}…"


def utf16_length(text: str) -> int:
    """Return a text's length in UTF-16 units, as Qt counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
