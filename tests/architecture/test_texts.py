"""Every text of the window can be translated."""

from pathlib import Path

import pytest

from tests.helpers.text_finder import ill_translated, untranslated

APP = Path(__file__).resolve().parents[2] / "app"


def _sources() -> dict[str, str]:
    return {str(p.relative_to(APP.parent)): p.read_text("utf-8") for p in sorted(APP.rglob("*.py"))}


def test_texts_of_the_window_when_shown_then_all_are_translatable():
    found = {
        f"{path}:{finding.line}": finding.text
        for path, source in _sources().items()
        for finding in untranslated(source)
    }
    assert found == {}


def test_texts_of_the_window_when_translated_then_all_are_whole_and_have_their_values():
    found = {
        f"{path}:{finding.line}": finding.text
        for path, source in _sources().items()
        for finding in ill_translated(source)
    }
    assert found == {}


@pytest.mark.parametrize(
    "planted",
    [
        'label.setText("Stop")',
        'button = QPushButton("Stop")',
        'menu.addAction(sign, "Stop", run)',
        'label.setText("Stop" if is_on else tr("Go"))',
        'label.setText(f"{count} Stop")',
        'label.setText("{n} Stop".format(n=1))',
        'label.setText("Stop" + tr("Go"))',
        'label.setText({1: "Stop"}.get(state, tr("Go")))',
        'def show(self):\n    text = "Stop"\n    self.label.setText(text)',
        'TEXTS = {1: "Stop"}\ndef show(self):\n    self.label.setToolTip(TEXTS[1])',
        'TEXTS = {1: "Stop"}\ndef show(self):\n    self.label.setToolTip(TEXTS.get(1))',
        'box.setText(text="Stop")',
        'def name(x):\n    return "Stop" if x else tr("Go")\nlabel.setText(name(1))',
        "class A:\n    def a(self):\n        self.b.setText(self.c())\n    def c(self):\n"
        '        return f"Stop {1}"',
        'Entry("Stop", stop)',
        'Notice(Severity.INFO, f"Stop {path}.")',
    ],
)
def test_finder_when_a_text_is_planted_then_it_is_found(planted):
    (found,) = untranslated(f"from app.i18n import tr\n\n{planted}\n")
    assert "Stop" in found.text
    assert found.line >= 3


@pytest.mark.parametrize(
    "fine",
    [
        'label.setText(tr("Stop"))',
        'label.setText(tr("{n} stops", n=n) if n else "")',
        'label.setText(tr_n("{n} stop", "{n} stops", n))',
        'label.setText(f"{place} / {end}")',
        'button.setText("✕")',
        'window.setWindowTitle("Viva Voce")',
        'label.setText(theme.color("text"))',
        'label.setProperty("role", "muted")',
        'Entry(tr("Stop"), stop, ("Ctrl+Z",), "stop")',
        'def name(x):\n    return tr("Stop") if x == "stop" else ""\nlabel.setText(name(1))',
        'QFileDialog(self, tr("Save"), f"{name}.wav", "*.wav *.flac")',
        'def a():\n    text = "stop"\ndef b(text):\n    label.setText(text)',
    ],
)
def test_finder_when_a_text_is_translated_or_not_for_people_then_nothing_is_found(fine):
    assert untranslated(fine) == ()


@pytest.mark.parametrize(
    ("text", "is_fine"),
    [
        ('tr("Saved as {path}.", path=path)', True),
        ('tr("Saved.")', True),
        ("tr(TEXTS[state])", True),
        ('tr_n("One word", "{n} words", n)', True),
        ('tr_n("{n} of {all}", "{n} of {all}", n, all=3)', True),
        ('tr(f"Saved as {path}.")', False),
        ('tr("Saved as " + path)', False),
        ('tr("Saved as {path}.".format(path=path))', False),
        ('tr("Saved as {path}.")', False),
        ('tr("Saved as {file}.", path=path)', False),
        ('tr("Saved.", path=path)', False),
        ('tr_n("{n} word", "{count} words", n)', False),
    ],
)
def test_finder_when_a_text_is_put_together_or_lacks_values_then_it_is_found(text, is_fine):
    assert (ill_translated(text) == ()) == is_fine
