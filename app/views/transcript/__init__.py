"""The transcript: its rows, its cursor, and how they are painted."""
