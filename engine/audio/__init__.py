"""Devices, rings, the timeline of captured audio, resampling and levels."""
