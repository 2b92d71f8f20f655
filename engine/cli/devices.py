"""`vivavoce devices`: microphones and loudspeakers, as --input and the settings name them."""

import typer


def devices(context: typer.Context) -> None:
    """List microphones and loudspeakers; * marks the default ones."""
    from engine.audio.provider import SystemDevices
    from engine.core.timebase import MonotonicClock

    found = SystemDevices(MonotonicClock()).list_devices()
    inputs = [device for device in found if device.num_inputs]
    outputs = [device for device in found if device.num_outputs]
    for title, group, is_input in (("Inputs", inputs, True), ("Outputs", outputs, False)):
        print(f"{title}:")
        for device in group:
            is_default = device.is_default_input if is_input else device.is_default_output
            note = "  (what a loudspeaker plays)" if is_input and device.is_monitor else ""
            mark = "*" if is_default else " "
            print(f" {mark} {device.name}  {device.sample_rate} Hz{note}")
        if not group:
            print("   none")
