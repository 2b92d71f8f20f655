"""`vivavoce codec`: audio to codes and back, streamed, and what that changes."""

from pathlib import Path
from typing import Annotated

import typer

from engine.cli.startup import startup_of


def codec(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="An audio file.")],
    out: Annotated[Path, typer.Option("-o", "--output", help="The decoded WAV file.")],
    chunk_frames: Annotated[
        int, typer.Option("--chunk", metavar="N", help="Frames decoded at a time.")
    ] = 10,
    decoder: Annotated[str, typer.Option(help="stateful or lookback.")] = "stateful",
    lookback: Annotated[
        str, typer.Option(metavar="N", help="Frames decoded again; exact for as many as needed.")
    ] = "exact",
    codec_id: Annotated[
        str, typer.Option("--codec", metavar="ID", help="A published codec's name.")
    ] = "",
    codes_out: Annotated[
        Path | None, typer.Option("--codes-out", help="Write the codes, for say, to a .npz file.")
    ] = None,
    is_untrained: Annotated[
        bool, typer.Option("--untrained", help="Random weights if there are no others: noise.")
    ] = False,
) -> int:
    """Encode an audio file, decode it in chunks, and say how that differs from a whole decode."""
    from engine.cli.coding import CodecRequest, run_codec

    request = CodecRequest(
        startup_of(context),
        file,
        out,
        codes_out,
        codec_id,
        chunk_frames,
        decoder,
        lookback,
        is_untrained,
    )
    return run_codec(request)
