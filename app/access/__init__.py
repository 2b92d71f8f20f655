"""The window for those who hear or feel it: screen readers, announcements, motion."""
