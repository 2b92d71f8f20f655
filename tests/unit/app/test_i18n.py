"""Texts in the user's language, their values and their numbers."""

from collections.abc import Iterator
from datetime import datetime

import pytest
from PySide6.QtCore import QCoreApplication, QTranslator

from app.i18n import CONTEXT, short_date, tr, tr_n
from tests.helpers.pseudo_locale import GROWTH, pseudo, pseudo_locale

_NUMBERS = {1: "{n} palabra", 2: "{n} palabras"}


_TEXTS = {
    "Stop": "Parar",
    "from {name}": "desde {name}",
    "Saved as {path}.": "Guardado como {ruta}.",
    "{a} of {b}": "{b.nothing}",
    "{x} left": "{",
}


class _Spanish(QTranslator):
    def isEmpty(self) -> bool:
        return False

    def translate(  # type: ignore[override]
        self, context: str, source: str, hint: str | None = None, n: int = -1
    ) -> str | None:
        if context == CONTEXT and source == "{n} words":
            return _NUMBERS.get(n, "{n} palabras")
        return _TEXTS.get(source) if context == CONTEXT else None


@pytest.fixture
def spanish(qapp: QCoreApplication) -> Iterator[None]:
    translator = _Spanish()
    QCoreApplication.installTranslator(translator)
    yield
    QCoreApplication.removeTranslator(translator)


def test_text_without_translator_is_itself_with_its_values() -> None:
    assert tr("Stop") == "Stop"
    assert tr("from {name}", name="{x}") == "from {x}"
    assert tr("a {brace} without values") == "a {brace} without values"


@pytest.mark.usefixtures("spanish")
def test_text_with_translator_is_translated_before_values_are_put_in() -> None:
    assert tr("Stop") == "Parar"
    assert tr("from {name}", name="Stop") == "desde Stop"
    assert tr("unknown {name}", name=1) == "unknown 1"


@pytest.mark.usefixtures("spanish")
@pytest.mark.parametrize(
    ("text", "values", "shown"),
    [
        ("Saved as {path}.", {"path": "x.txt"}, "Saved as x.txt."),
        ("{a} of {b}", {"a": 1, "b": 2}, "1 of 2"),
        ("{x} left", {"x": 3}, "3 left"),
    ],
)
def test_translation_with_wrong_braces_gives_way_to_the_english_text(
    text: str, values: dict[str, object], shown: str
) -> None:
    assert tr(text, **values) == shown


@pytest.mark.parametrize(
    ("n", "shown"), [(0, "0 words"), (1, "1 word"), (2, "2 words"), (40_000, "40000 words")]
)
def test_count_without_translator_has_the_english_forms(n: int, shown: str) -> None:
    assert tr_n("{n} word", "{n} words", n) == shown


@pytest.mark.usefixtures("spanish")
@pytest.mark.parametrize(("n", "shown"), [(1, "1 palabra"), (2, "2 palabras")])
def test_count_with_translator_has_the_form_the_language_gives_that_number(
    n: int, shown: str
) -> None:
    assert tr_n("{n} word", "{n} words", n) == shown


def test_date_is_made_of_a_sentence_that_can_be_put_in_another_order() -> None:
    moment = datetime.fromisoformat("2026-11-02T08:03:59+01:00")
    shown = short_date(moment)
    assert shown.startswith("02 ")
    assert shown.endswith(" 2026, 08:03")


@pytest.mark.parametrize(
    "text", ["Stop", "Record or stop", "Saved as {path} and {name}.", "&File", "x" * 200]
)
def test_pseudo_text_is_longer_by_the_growth_of_german_and_keeps_its_braces(text: str) -> None:
    longer = pseudo(text)
    assert len(longer) >= round(len(text) * (1 + GROWTH))
    for kept in ("{path}", "{name}", "&F"):
        assert (kept in longer) == (kept in text)


def test_pseudo_locale_reaches_every_text_and_only_while_it_lasts(qapp: QCoreApplication) -> None:
    with pseudo_locale():
        assert tr("About {name}", name="Anna") == "[Äböüt Anna ~]"
        assert QCoreApplication.translate("Qt", "About") == "About"
    assert tr("About {name}", name="Anna") == "About Anna"
