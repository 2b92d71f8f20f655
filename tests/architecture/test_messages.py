"""Every message says what happened, why, and what to do, in whole sentences."""

import re

import pytest

from tests.helpers.message_list import find, found_here, lister

MAX_CHARACTERS = 200
_PASSED_ON = "«what went wrong»"
_FILLED = re.compile("«[^»]*»")
_JARGON = re.compile(
    r"\b(errno|traceback|exception|segfault|assert\w*|callback|NoneType|stderr|stdout)\b|"
    r"\b\w+(Error|Exception)\b|«name of a class»|\b(engine|app)\.\w+\.\w+",
    re.IGNORECASE,
)
_EMPTY_WORDS = re.compile(r"error occurred|went wrong:|unknown error|oops|failed to", re.IGNORECASE)
# A bare reason of the system or of a library stands only where a sentence leads to it.
_BARE = re.compile(r"(?<![:(] )(?<!\()«(error|reason|exception)»")

NO_ADVICE = {
    # Nothing needs to be done, and the message says so or tells what goes on.
    "Speakers were not told apart from": "the words are there; the reason says if more follows",
    "Nothing has been recorded yet": "nothing is wrong",
}
"""Beginnings of messages that need no advice, and why."""


def _problems(message) -> list[str]:
    """Return what is wrong with the words of a message."""
    if message.kind == "CancelledError":
        return []
    whole, told = message.text, message.text.replace(_PASSED_ON, "It is so.")
    if message.severity == "reason":
        return ["jargon"] if _JARGON.search(told) else []
    found = []
    if not re.match(r"[A-Z0-9«\"'-]", told) or not re.search(r"[.!?]$", told.strip()):
        found.append("no whole sentence")
    if _BARE.search(told) and whole != _PASSED_ON:
        found.append("a bare reason")
    if re.search("«(error|exception)»", told):
        found.append("words of a library as they come")  # `reason_of` mends them
    if _JARGON.search(told):
        found.append("jargon")
    if _EMPTY_WORDS.search(told):
        found.append("empty words")
    if len(_FILLED.sub("", whole)) > MAX_CHARACTERS:
        found.append("too long")
    if not re.search(r"\w", _FILLED.sub("", told)):
        found.append("words that the list cannot show")
    if message.advice and not _is_advice(message.advice):
        found.append("advice is no sentence")
    if not _tells_what_to_do(message):
        found.append("no advice")
    return found


def _is_advice(advice: str) -> bool:
    if len(_FILLED.sub("", advice)) > 2 * MAX_CHARACTERS:
        return False
    # Several are told apart by a stroke; a command ends without a full stop.
    return all(
        re.match(r"[A-Z«]", one.strip()) and re.search(r"[.»]$|: \S.*$", one.strip())
        for one in advice.split(" / ")
        if one.strip()
    )


def _tells_what_to_do(message) -> bool:
    return (
        message.severity in ("info", "reason")
        or bool(message.advice)
        or bool(message.command)
        or _PASSED_ON in message.text
        or any(message.text.startswith(start) for start in NO_ADVICE)
    )


def test_messages_when_read_then_each_says_what_happened_and_what_to_do():
    wrong = {
        f"{m.path}:{m.line}: {m.text}": problems for m in found_here() if (problems := _problems(m))
    }
    assert wrong == {}


def test_exceptions_from_the_rule_when_compared_then_each_is_still_needed():
    texts = [m.text for m in found_here()]
    assert [s for s in NO_ADVICE if not any(text.startswith(s) for text in texts)] == []


def test_list_of_messages_when_compared_with_the_code_then_it_is_up_to_date():
    listed = lister().TARGET.read_text("utf-8")
    assert listed == lister().render(found_here()), f"run: {lister().COMMAND}"


def test_list_of_messages_when_read_then_all_groups_hold_some():
    listed = lister().TARGET.read_text("utf-8")
    for group in lister()._GROUPS:
        assert f"\n## {group}\n" in listed


_SOURCE = '''
from engine.core.errors import EngineError
from engine.core.events import Notice, Severity
_ADVICE = {1: "Do this.", 2: "Do that."}
LIMIT_S = 4.0
class LostError(EngineError):
    """Ours."""
def fail(what, path, error):
    raise LostError(f"{what} is gone from {path} after {LIMIT_S:.0f} s: {error.strerror}.",
                    advice=_ADVICE.get(what, "Wait."), command=f"vivavoce pull {path.name}")
class Teller:
    def rest(self, number):
        kind = "input" if number else "output"
        self._tell(Severity.INFO, f"The {kind} rests.")
    def _tell(self, severity, text, advice=""):
        self.post(Notice(severity, text, advice))
'''


def test_finder_when_messages_are_made_in_parts_then_finds_what_people_read(tmp_path):
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "lost.py").write_text(_SOURCE)
    lost, first, second = find(tmp_path)
    assert lost.text == "«what» is gone from «path» after 4 s: «reason»."
    assert lost.advice == "Do this. / Do that. / Wait."
    assert lost.command == "vivavoce pull «path name»"
    assert (first.severity, first.text) == ("info", "The input rests.")
    assert second.text == "The output rests."


def test_finder_when_words_are_imported_then_follows_them(tmp_path):
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "words.py").write_text(
        'ADVICE = "Mend it."\ndef broken(name):\n    return f"{name} is broken."\n'
    )
    (tmp_path / "engine" / "teller.py").write_text(
        "from engine.words import ADVICE, broken\n"
        "def tell(post, path):\n    text = broken(path)\n"
        "    post(Notice(Severity.WARNING, text, ADVICE))\n"
    )
    (message,) = find(tmp_path)
    assert (message.text, message.advice) == ("«name» is broken.", "Mend it.")


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        ('EngineError("it broke", advice="Mend it.")', "no whole sentence"),
        ('EngineError(f"{error}", advice="Mend it.")', "a bare reason"),
        ('EngineError(f"It gave {error}.", advice="Mend it.")', "a bare reason"),
        ('EngineError(f"It broke: {error}.", advice="Mend.")', "words of a library as they come"),
        ('EngineError("A ValueError came.", advice="Mend it.")', "jargon"),
        ('EngineError(f"It broke: {type(error).__name__}.", advice="Mend it.")', "jargon"),
        ('EngineError("An error occurred.", advice="Mend it.")', "empty words"),
        ('EngineError(f"{path} {what}.", advice="Mend it.")', "words that the list cannot show"),
        ('EngineError("It broke.")', "no advice"),
        ('Notice(Severity.WARNING, "It broke.")', "no advice"),
        ('EngineError("It broke.", advice="mend")', "advice is no sentence"),
        (f'EngineError("{"It broke. " * 30}", advice="Mend it.")', "too long"),
    ],
)
def test_rules_when_a_poor_message_is_planted_then_it_is_found(tmp_path, call, problem):
    (tmp_path / "app").mkdir()
    source = f"class EngineError: pass\ndef fail(error):\n    return {call}\n"
    (tmp_path / "app" / "poor.py").write_text(source)
    assert problem in [found for message in find(tmp_path) for found in _problems(message)]
