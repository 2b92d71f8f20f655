"""`vivavoce encode`: what a language model reads of an audio file."""

from pathlib import Path
from typing import Annotated

import typer

from engine.cli.startup import Untrained, startup_of
from engine.core.config import Statistics


def encode(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="An audio file, or demo.")],
    out: Annotated[Path, typer.Option("-o", "--output", help="The safetensors file to write.")],
    encoder: Annotated[
        str, typer.Option(metavar="ID", help="tower, or tower:PATH of a checkpoint.")
    ] = "tower",
    statistics: Annotated[
        Statistics,
        typer.Option(help="Normalise by the whole clip, or by what was heard up to each window."),
    ] = Statistics.EXACT,
    allow_untrained: Untrained = False,
) -> int:
    """Write the embeddings and the speaker activity of an audio file."""
    from engine.cli.encoding import EncodeRequest, encode_file

    return encode_file(
        EncodeRequest(startup_of(context), file, out, encoder, statistics, allow_untrained)
    )
