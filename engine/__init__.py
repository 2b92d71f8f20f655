"""The engine of Viva Voce: audio, models, sessions and the command line. It never imports Qt."""

__version__ = "0.1.0"
