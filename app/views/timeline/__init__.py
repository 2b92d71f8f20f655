"""The speaker timeline: who speaks when, painted in tiles."""
