"""The session: the one object that window, command line and tests hold."""
