"""Saves a transcript in any of the formats there are."""

from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from engine.core.errors import ConfigError
from engine.store.exporters import nist, plain_text, subtitles, transcript_json
from engine.store.exporters.options import ExportFormat, ExportOptions
from engine.store.private import write_whole
from engine.text.document import TranscriptDocument


def render(
    document: TranscriptDocument,
    export_format: ExportFormat | str,
    options: ExportOptions | None = None,
) -> str:
    """Return a transcript as text in a format.

    Raises:
        ConfigError: there is no such format; names those there are.
    """
    try:
        export_format = ExportFormat(export_format)
    except ValueError as error:
        raise ConfigError(
            f"A transcript cannot be saved as {str(export_format)!r}.",
            advice=f"Choose one of: {', '.join(ExportFormat)}.",
        ) from error
    return _renderer(export_format)(document, options or ExportOptions())


def export(
    document: TranscriptDocument,
    export_format: ExportFormat | str,
    out: Path | TextIO,
    options: ExportOptions | None = None,
) -> None:
    """Save a transcript.

    Args:
        document: the transcript.
        export_format: what to save it as.
        out: a file, written whole or not at all and readable by its owner alone, or a stream.
        options: choices for the format.

    Raises:
        ConfigError: there is no such format.
        StoreError: the file cannot be written.
    """
    text = render(document, export_format, options)
    if isinstance(out, Path):
        write_whole(out, text.encode("utf-8", "replace"))
    else:
        out.write(text)


def format_of(path: Path) -> ExportFormat | None:
    """Return the format that a file's name asks for, if any."""
    suffix = path.suffix.lower().removeprefix(".")
    return ExportFormat(suffix) if suffix in list(ExportFormat) else None


def _renderer(
    export_format: ExportFormat,
) -> Callable[[TranscriptDocument, ExportOptions], str]:
    renderers = {
        ExportFormat.TXT: plain_text.render,
        ExportFormat.SRT: subtitles.render_srt,
        ExportFormat.VTT: subtitles.render_vtt,
        ExportFormat.JSON: transcript_json.render,
        ExportFormat.RTTM: nist.render_rttm,
        ExportFormat.CTM: nist.render_ctm,
    }
    return renderers[export_format]
