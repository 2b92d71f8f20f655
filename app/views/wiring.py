"""Which command each control and menu entry gives."""

from typing import TYPE_CHECKING

from app.controller import Controller
from app.shelf import Shelf
from app.speech import Speech
from app.views.menus import Commands, MenuActions, add_panel_switch, fill_menus

if TYPE_CHECKING:
    from app.views.main_window import MainWindow


def make_menus(window: "MainWindow", controller: Controller, speech: Speech) -> MenuActions:
    """Fill the window's menu bar."""
    view, timeline = window.transcript, window.timeline
    page = timeline.scroll_pages
    commands = Commands(
        record=controller.toggle_record,
        pause=controller.pause_or_resume,
        demo=controller.try_demo,
        listen_to_file=window.dialogs.choose_sound_file,
        export=window.dialogs.export_shown,
        quit=window.close_window,
        copy=view.copy,
        select_all=view.select_all,
        rename=view.rename_current,
        larger=lambda: controller.change_text_size(1),
        smaller=lambda: controller.change_text_size(-1),
        usual_size=lambda: controller.change_text_size(0),
        jump=view.jump_to_latest,
        show_live=window.show_live,
        zoom_in=lambda: timeline.zoom(True),
        zoom_out=lambda: timeline.zoom(False),
        earlier=lambda: page(-0.2),
        later=lambda: page(0.2),
        speak=window.speak_panel.speak,
        stop_speaking=speech.stop_speaking,
        save_wav=window.speak_panel.ask_where_to_save,
        messages=window.dialogs.show_messages,
        report=window.copy_report,
        about=window.dialogs.show_about,
        keep=controller.choose_keep,
        hold_back=controller.set_hold_back_own_voice,
    )
    settings = controller.settings
    actions = fill_menus(
        window.menuBar(),
        commands,
        keep=settings.keep,
        hold_back=settings.hold_back_own_voice,
    )
    for title, keys, switch, is_on in (
        ("Delays", "F8", window.show_delays, window.layout_file.layout.shows_delays),
        ("Recordings", "F9", window.sessions_panel.setVisible, True),
        ("Speak panel", "F10", window.speak_panel.setVisible, True),
    ):
        add_panel_switch(actions, title, keys, switch, is_on=is_on)
    return actions


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
    window.welcome.pull_asked.connect(shelf.pull_missing)
    window.delays_panel.report_asked.connect(window.copy_report)
    window.transcript.rename_asked.connect(controller.rename_speaker)
    panel.speak_asked.connect(speech.speak)
    panel.stop_asked.connect(speech.stop_speaking)
    panel.position.pause_asked.connect(speech.pause_speaking)
    panel.position.replay_asked.connect(speech.replay)
    panel.position.seek_asked.connect(speech.seek)
    panel.save_asked.connect(speech.save_wav)
    panel.voice_chosen.connect(controller.set_voice)
    sessions.open_asked.connect(shelf.open_session)
    sessions.delete_asked.connect(shelf.delete_session)
    sessions.export_asked.connect(window.dialogs.export_stored)
    controller.session_attached.connect(window.take_session)
    controller.devices_listed.connect(bar.set_devices)
    controller.devices_listed.connect(window.welcome.set_devices)
    controller.change_refused.connect(window.show_choices)
    controller.keep_asked.connect(window.dialogs.ask_what_to_keep)
    controller.text_size_changed.connect(window.transcript.set_text_size)
    speech.place_changed.connect(panel.position.set_place)
    speech.save_progress.connect(window.show_save_progress)
    speech.save_ended.connect(window.show_save_end)
    shelf.missing_listed.connect(window.welcome.show_missing)
    shelf.pull_progress.connect(window.welcome.show_pull)
    shelf.models_pulled.connect(controller.reload_models)
    shelf.voices_listed.connect(window.show_voices)
    shelf.diarizers_listed.connect(window.show_diarizers)
    shelf.sessions_listed.connect(sessions.set_sessions)
