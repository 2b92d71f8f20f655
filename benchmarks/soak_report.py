"""What a soak has measured and checked."""

from dataclasses import dataclass, field

_MAX_TOLD = 600


@dataclass
class Report:
    """Figures, and checks that hold or do not.

    Args:
        title: of the run.
    """

    title: str
    figures: list[tuple[str, object]] = field(default_factory=list)
    checks: list[tuple[str, bool, str]] = field(default_factory=list)

    @property
    def failures(self) -> list[str]:
        """The checks that do not hold, each with what was found."""
        return [f"{name}: {found}" for name, holds, found in self.checks if not holds]

    def figure(self, name: str, value: object) -> None:
        """Note a figure."""
        self.figures.append((name, value))

    def check(self, name: str, holds: bool, found: object = "") -> None:
        """Note whether something holds, and what was found."""
        self.checks.append((name, bool(holds), str(found)[:_MAX_TOLD]))

    def text(self) -> str:
        """Return all of it for a terminal."""
        lines = [self.title]
        lines += [f"  {name:52} {value}" for name, value in self.figures]
        for name, holds, found in self.checks:
            lines.append(f"  {'holds' if holds else 'FAILS'}  {name}")
            if not holds:
                lines.append(f"         {found}")
        return "\n".join(lines)
