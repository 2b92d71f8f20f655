"""How long the computer has slept: time that the monotonic clock leaves out."""

import time

_MAX_READ_S = 0.05
_MAX_READS = 20


def suspended_s() -> float:
    """Return the seconds this computer has slept since it was started, good to some 0.05 s.

    The wall clock has no part in it: its jumps do not show. Always 0 where the system does not
    tell.
    """
    boot_time = getattr(time, "CLOCK_BOOTTIME", None)
    if boot_time is None:
        return 0.0
    for _ in range(_MAX_READS):
        before_s = time.monotonic()
        with_sleep_s = time.clock_gettime(boot_time)
        after_s = time.monotonic()
        # Else something came between the clocks, and their difference says nothing.
        if after_s - before_s < _MAX_READ_S:
            break
    return with_sleep_s - (before_s + after_s) / 2
