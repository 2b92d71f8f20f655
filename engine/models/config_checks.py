"""Checks that configurations make of their values."""


def require(condition: bool, name: str, value: object, expected: str) -> None:
    """Raise ValueError with the value and what was expected, unless the condition holds."""
    if not condition:
        raise ValueError(f"{name} must be {expected}, got {value!r}")


def require_positive(owner: object, *names: str) -> None:
    """Raise ValueError unless each named attribute is above 0."""
    for name in names:
        value = getattr(owner, name)
        require(value > 0, name, value, "positive")
