"""Transcripts: the document, who said what, and how text is split and agreed on."""
