"""Threads that move audio and events: capture, lanes and playback."""
