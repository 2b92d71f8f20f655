"""Events reach everybody in one order, and their owner whatever subscribers do."""

import threading
from collections.abc import Callable, Iterator, Sequence

import pytest

from engine.core.events import Event, Notice, Severity
from engine.pipeline.bus import EventBus

pytestmark = pytest.mark.unit
NUM_POSTERS = 4
NUM_EACH = 200


def note(text: str) -> Notice:
    return Notice(Severity.INFO, text)


@pytest.fixture
def blocked() -> Iterator[tuple[Callable[[Event], None], threading.Event, threading.Event]]:
    """A subscriber that waits at its first event, what tells that it does, and what lets it go."""
    is_reached, is_over = threading.Event(), threading.Event()

    def wait(_event: Event) -> None:
        is_reached.set()
        is_over.wait(60)

    yield wait, is_reached, is_over
    is_over.set()


def test_events_when_many_threads_post_then_all_hear_them_in_one_order() -> None:
    owned: list[Event] = []
    heard: tuple[list[Event], list[Event]] = [], []
    bus = EventBus(take=owned.append)
    for each in heard:
        bus.subscribe(each.append)

    def post(number: int) -> None:
        for index in range(NUM_EACH):
            bus.post(note(f"{number} {index}"))

    threads = [threading.Thread(target=post, args=(number,)) for number in range(NUM_POSTERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert bus.drain()
    assert owned == heard[0] == heard[1]
    assert len(owned) == NUM_POSTERS * NUM_EACH
    for number in range(NUM_POSTERS):
        own = [event for event in owned if event.message.startswith(f"{number} ")]
        assert own == [note(f"{number} {index}") for index in range(NUM_EACH)]
    assert bus.close()


def test_subscriber_when_it_blocks_then_the_owner_has_everything_and_the_rest_comes_later(
    blocked,
) -> None:
    wait, is_reached, is_over = blocked
    owned: list[Event] = []
    heard: list[Event] = []
    bus = EventBus(take=owned.append)
    bus.subscribe(wait)
    bus.subscribe(heard.append)
    told = [note(str(number)) for number in range(3)]
    for event in told:
        bus.post(event)
    assert is_reached.wait(10)
    assert bus.drain_owner()
    assert owned == told
    assert heard == []
    assert not bus.drain(0.05)
    is_over.set()
    assert bus.drain()
    assert heard == told
    assert bus.close()


def test_close_when_a_subscriber_blocks_then_is_not_waited_for(blocked) -> None:
    wait, is_reached, is_over = blocked
    owned: list[Event] = []
    bus = EventBus(take=owned.append)
    bus.subscribe(wait)
    bus.post(note("first"))
    assert is_reached.wait(10)
    bus.post(note("last"))
    assert not bus.close(0.05)
    assert owned == [note("first"), note("last")]
    is_over.set()
    assert bus.close()
    assert bus.drain()


def test_prepared_events_when_told_then_see_what_was_taken_before_and_take_its_place() -> None:
    owned: list[Event] = []
    heard: list[Event] = []

    def prepare(event: Event) -> Sequence[Event]:
        assert isinstance(event, Notice)
        return [note(f"{event.message} after {len(owned)}")] * int(event.message)

    bus = EventBus(prepare, owned.append)
    bus.subscribe(heard.append)
    for number in "201":
        bus.post(note(number))
    assert bus.drain()
    assert [event.message for event in owned] == ["2 after 0", "2 after 0", "1 after 2"]
    assert heard == owned
    assert bus.close()


@pytest.mark.expects_log
def test_owner_when_it_breaks_down_then_subscribers_still_hear_and_people_are_told_once() -> None:
    heard: list[Event] = []

    def fail(_event: Event) -> None:
        raise ZeroDivisionError

    bus = EventBus(take=fail)
    bus.subscribe(heard.append)
    bus.post(note("first"))
    bus.post(note("second"))
    assert bus.drain()
    assert bus.drain()
    assert [event.severity for event in heard] == [Severity.INFO, Severity.INFO, Severity.ERROR]
    assert bus.close()


def test_drain_when_a_subscriber_asks_then_returns_at_once() -> None:
    asked: list[bool] = []
    bus = EventBus()
    bus.subscribe(lambda _event: asked.append(bus.drain(10)))
    bus.post(note("first"))
    assert bus.drain()
    assert asked == [True]
    assert bus.close()
