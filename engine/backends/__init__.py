"""Speech backends by kind, one adapter a file."""
