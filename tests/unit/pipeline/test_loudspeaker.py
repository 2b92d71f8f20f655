import pytest

from engine.audio.virtual_output import NullOutput
from engine.core.errors import DeviceError
from engine.core.timebase import VirtualClock
from engine.pipeline.loudspeaker import Loudspeaker

pytestmark = pytest.mark.unit


class _Output(NullOutput):
    """An output that has underflows when a test says so."""

    num_device_underflows = 0

    @property
    def num_underflows(self) -> int:
        return 2 * self.num_device_underflows


def test_underflows_when_the_output_is_opened_again_then_are_counted_over_all_of_them() -> None:
    opened: list[_Output] = []

    def open_output() -> _Output:
        opened.append(_Output(VirtualClock()))
        return opened[-1]

    loudspeaker = Loudspeaker(open_output)
    loudspeaker.open()
    opened[0].num_device_underflows = 3
    loudspeaker.count()
    loudspeaker.count()
    loudspeaker.close()
    loudspeaker.open()
    opened[1].num_device_underflows = 1
    loudspeaker.close()
    assert (loudspeaker.num_device_underflows, loudspeaker.num_underflows) == (4, 8)


def test_open_when_a_library_fails_then_that_is_a_fault_of_the_device_and_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    foreign = OSError("Too many open files")

    def open_output() -> NullOutput:
        raise foreign

    loudspeaker = Loudspeaker(open_output)
    for _ in range(3):
        with pytest.raises(DeviceError, match="unexpected"):
            loudspeaker.open()
    assert [record.exc_info[1] for record in caplog.records if record.exc_info] == [foreign]
