"""Captions: very large words in a window of their own."""
