"""Lets Python's cyclic garbage collector run on the main thread alone, and never for long.

Closed dialogs leave cycles that hold Qt objects. The collector runs on whichever thread happens to
allocate, and a Qt object that dies on a worker thread takes the process with it.

A full collection looks at every object there is: the modules of the models, and every word of a
long session, which takes longer than a picture may. What survives one is therefore set aside
(`gc.freeze`) until nothing is recorded, when everything is looked at again.
"""

import gc

from PySide6.QtCore import QObject, QTimer, Slot

INTERVAL_MS = 1000


class GarbageCollector(QObject):
    """Collects by the interpreter's own thresholds from a timer. Thread: main.

    Args:
        parent: ends it.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._timer = QTimer(self)
        self._timer.setInterval(INTERVAL_MS)
        self._timer.timeout.connect(self.collect)

    def start(self) -> None:
        """Take collecting over from the interpreter."""
        gc.disable()
        self._timer.start()

    def stop(self) -> None:
        """Give collecting back; idempotent."""
        self._timer.stop()
        gc.unfreeze()
        gc.enable()

    @Slot()
    def collect(self) -> None:
        """Collect the oldest generation whose threshold is passed, if any."""
        counts, thresholds = gc.get_count(), gc.get_threshold()
        for generation in (2, 1, 0):
            if counts[generation] > thresholds[generation]:
                gc.collect(generation)
                if generation == 2:
                    gc.freeze()
                return

    @Slot()
    def collect_all(self) -> None:
        """Look at everything again: for moments in which nobody waits for the next picture."""
        gc.unfreeze()
        gc.collect()
        gc.freeze()
