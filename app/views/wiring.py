"""Which command each control gives, and which view each answer goes to."""

from typing import TYPE_CHECKING

from app.controller import Controller
from app.shelf import Shelf
from app.speech import Speech
from app.views.file_places import begin_where_last

if TYPE_CHECKING:
    from app.views.main_window import MainWindow


def connect_commands(
    window: "MainWindow", controller: Controller, shelf: Shelf, speech: Speech
) -> None:
    """Connect the views' signals with the commands, and the answers with the views."""
    bar, panel, sessions = window.toolbar, window.speak_panel, window.sessions_panel
    bar.record_asked.connect(controller.record)
    bar.pause_asked.connect(controller.pause_or_resume)
    bar.stop_asked.connect(controller.stop)
    bar.input_chooser.opened.connect(controller.list_devices)
    bar.output_chooser.opened.connect(controller.list_devices)
    bar.input_chooser.chosen.connect(controller.set_input)
    bar.output_chooser.chosen.connect(controller.set_output)
    window.welcome.record_asked.connect(controller.record)
    window.welcome.demo_asked.connect(controller.try_demo)
    window.welcome.file_asked.connect(window.dialogs.choose_sound_file)
    window.welcome.devices_asked.connect(controller.list_devices)
    for card in (window.welcome.missing, window.reading.missing_models):
        card.pull_asked.connect(shelf.pull_missing)
        shelf.missing_listed.connect(card.show_missing)
        shelf.pull_progress.connect(card.show_pull)
    shelf.missing_listed.connect(window.refresh)
    window.delays_panel.report_asked.connect(window.copy_report)
    window.search.hit_chosen.connect(window.show_hit)
    window.search_bar.closed.connect(window.transcript.setFocus)
    window.timeline.copy_asked.connect(window.copy_stretch)
    window.timeline.export_asked.connect(window.dialogs.export_stretch)
    panel.speak_asked.connect(speech.speak)
    panel.stop_asked.connect(speech.stop_speaking)
    panel.position.pause_asked.connect(speech.pause_speaking)
    panel.position.replay_asked.connect(speech.replay)
    panel.position.seek_asked.connect(speech.seek)
    panel.save_asked.connect(speech.save_wav)
    panel.voice_chosen.connect(controller.set_voice)
    panel.place_dialog = lambda dialog: begin_where_last(dialog, window.layout_file, "saving")
    sessions.open_asked.connect(shelf.open_session)
    sessions.delete_asked.connect(shelf.delete_session)
    sessions.export_asked.connect(window.dialogs.export_stored)
    controller.session_attached.connect(window.take_session)
    controller.devices_listed.connect(bar.set_devices)
    controller.devices_listed.connect(window.welcome.set_devices)
    controller.change_refused.connect(window.model_choices.show_chosen)
    controller.keep_asked.connect(window.captions.leave)
    controller.keep_asked.connect(window.dialogs.ask_what_to_keep)
    controller.unkept.asked.connect(window.captions.leave)
    controller.unkept.asked.connect(window.dialogs.ask_about_unkept)
    controller.text_size_changed.connect(window.transcript.set_text_size)
    controller.text_size_changed.connect(window.panels.settle)
    speech.place_changed.connect(panel.position.set_place)
    speech.save_progress.connect(panel.set_save_progress)
    speech.save_ended.connect(window.show_save_end)
    shelf.models_pulled.connect(controller.reload_models)
    shelf.voices_listed.connect(window.model_choices.show_voices)
    shelf.diarizers_listed.connect(window.model_choices.show_diarizers)
    shelf.sessions_listed.connect(sessions.set_sessions)
