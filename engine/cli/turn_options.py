"""The options that say how speaker probabilities become turns, shared by commands that export."""

from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

if TYPE_CHECKING:
    from engine.text.activity import TurnPolicy

Threshold: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--threshold", min=0.01, max=1.0, help="Speakers count from this probability on; 0.5."
    ),
]
MinOnMs: TypeAlias = Annotated[
    int | None, typer.Option("--min-on-ms", min=0, help="Leave shorter speaker turns out; 0.")
]
MinOffMs: TypeAlias = Annotated[
    int | None,
    typer.Option("--min-off-ms", min=0, help="Bridge a speaker's pauses up to this long; 240."),
]
PadMs: TypeAlias = Annotated[
    int | None, typer.Option("--pad-ms", min=0, help="Added at both ends of a speaker turn; 0.")
]


def turn_policy(
    threshold: float | None, min_on_ms: int | None, min_off_ms: int | None, pad_ms: int | None
) -> "TurnPolicy":
    """Return the policy in force: the defaults, and what was asked for."""
    from engine.text.activity import TurnPolicy

    default = TurnPolicy()
    return TurnPolicy(
        threshold=default.threshold if threshold is None else threshold,
        min_on_ms=default.min_on_ms if min_on_ms is None else min_on_ms,
        min_off_ms=default.min_off_ms if min_off_ms is None else min_off_ms,
        pad_ms=default.pad_ms if pad_ms is None else pad_ms,
    )
