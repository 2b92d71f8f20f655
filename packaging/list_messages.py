"""Writes docs/messages.md: all that the program tells people when something is not as usual.

Usage: python packaging/list_messages.py
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from message_finder import Message, find_messages

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "messages.md"
COMMAND = "python packaging/list_messages.py"

_HEAD = f"""# Messages

All that the program tells when something is not as usual, made from the code by
`{COMMAND}`. What is known only then stands in «»; where the second
column is empty, the first says all there is, and where the third is, nothing needs to be done.
«what went wrong» is another message of this list.

In the window they are notices that stop nothing; Messages in the menu shows those so far. In a
terminal they go to standard error, with the command that helps, and
[the exit status](command-line.md#messages-and-exit-status) says of which kind it was.
`vivavoce doctor` finds most causes.
"""
_GROUPS = (
    "Devices",
    "Models",
    "Recordings and disk",
    "Files",
    "Speech",
    "Settings",
    "Speakers and text",
    "Window",
    "Command line",
    "Doctor",
)
# The first that fits decides: part of the path, class, group.
_RULES = (
    ("engine/cli/check", "Check", "Doctor"),
    ("", "DeviceError", "Devices"),
    ("engine/pipeline/(capture|input_|lost_|steady|loudspeaker|reopening)", "", "Devices"),
    (
        "engine/session/(disk|keep|kept|record|sound_in)|engine/audio/(spans|level)",
        "",
        "Recordings and disk",
    ),
    ("", "AudioFileError|CodesError", "Files"),
    ("engine/models/nanocodec/codes_file|engine/store/exporters", "", "Files"),
    ("", "StoreError", "Recordings and disk"),
    ("engine/core/config", "", "Settings"),
    ("engine/cli/", "", "Command line"),
    ("app/", "", "Window"),
    ("engine/models/", "", "Models"),
    ("", "Model\\w+Error", "Models"),
    ("piper|nanocodec|synthesizer|playback|playing|render|listen|sound_out", "", "Speech"),
    ("diarizer|cluster|sortformer|tower|recognizer|whisper|engine/text/", "", "Speakers and text"),
    ("engine/pipeline/", "", "Speakers and text"),
    ("engine/backends/registry|session/pool", "", "Models"),
    ("engine/store/", "", "Recordings and disk"),
    ("", "", "Window"),
)
_MODEL_FILES = re.compile(
    r"engine/store/(fetch|first_use|integrity|manifest|models|sources|unpack|wheel)"
)


def group_of(message: Message) -> str:
    """Return where people meet a message."""
    if _MODEL_FILES.search(message.path):
        return "Models"
    return next(
        group
        for path, kind, group in _RULES
        if re.search(path, message.path) and re.fullmatch(kind or ".*", message.kind)
    )


def is_shown(message: Message) -> bool:
    """Return whether a message says something of its own to people."""
    is_known = re.fullmatch("«[^»]*»", message.text) is None
    return is_known and message.kind != "CancelledError"


def render(messages: Sequence[Message]) -> str:
    """Return the text of docs/messages.md."""
    lines = [_HEAD]
    for group in _GROUPS:
        own = [m for m in messages if is_shown(m) and group_of(m) == group]
        told = {row(m) for m in own if m.severity != "reason"}
        reasons = {_cell(m.text) for m in own if m.severity == "reason"}
        if told:
            lines += [f"## {group}\n", "| what happened | why | what to do |", "|---|---|---|"]
            lines += [*sorted(told, key=str.casefold), ""]
        if reasons:
            lines += ["Beside a marked stretch of a transcript:\n"]
            lines += [*(f"- {reason}" for reason in sorted(reasons, key=str.casefold)), ""]
    return "\n".join(lines)


def row(message: Message) -> str:
    """Return a message as a row of three cells."""
    what, why = split(message.text)
    command = f" `{message.command}`" if message.command else ""
    return f"| {_cell(what)} | {_cell(why)} | {_cell(message.advice)}{command} |"


def split(text: str) -> tuple[str, str]:
    """Return what happened, and why as far as the text says so apart."""
    found = re.search(r"^[^(]*?(?:\([^)]*\)[^(]*?)*?(?=[:;.] )", text)
    if not found:
        return text, ""
    end = found.end()
    return f"{text[:end]}.", text[end + 2 :][:1].upper() + text[end + 3 :]


def _cell(text: str) -> str:
    return text.strip().replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def main() -> int:
    """Write the file, and say so if it has changed."""
    text = render(find_messages(ROOT))
    if not TARGET.exists() or TARGET.read_text("utf-8") != text:
        TARGET.write_text(text, "utf-8")
        print(f"{TARGET.relative_to(ROOT)} was written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
