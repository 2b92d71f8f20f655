"""What a user can choose between, without loading any of it."""

from engine.backends.registry import available
from engine.core.types import BackendKind
from engine.session.pool import NO_BACKEND

_FOR_TESTS = "test"


def backend_choices(kind: BackendKind) -> tuple[tuple[str, str], ...]:
    """Return the backends of a kind that can be had, and none at all, as (id, title).

    Their models may still be missing: choosing one then says how to get them. Blocks while what
    they are made of is imported.
    """
    found = [
        (listing.id, listing.spec.title)
        for listing in available(kind)
        if listing.spec is not None and _FOR_TESTS not in listing.spec.capabilities
    ]
    return (*found, (NO_BACKEND, "Off"))
