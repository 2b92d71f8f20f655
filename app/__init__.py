"""The window of Viva Voce."""
