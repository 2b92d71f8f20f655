"""Writers of transcript formats, one format a file."""
