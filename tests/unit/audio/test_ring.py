import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.audio.ring import SampleRing

pytestmark = pytest.mark.unit


def _ramp(start: int, n: int) -> np.ndarray:
    return np.arange(start, start + n, dtype=np.float32)


def test_capacity_when_not_a_power_of_two_then_is_rounded_up() -> None:
    assert SampleRing(1000).capacity == 1024
    assert SampleRing(1024).capacity == 1024
    assert SampleRing(1).capacity == 1


def test_ring_when_made_without_room_then_refuses() -> None:
    with pytest.raises(ValueError, match="at least one"):
        SampleRing(0)


def test_write_when_full_then_takes_what_fits_and_keeps_the_oldest() -> None:
    ring = SampleRing(8)
    assert ring.write(_ramp(0, 6)) == 6
    assert ring.write(_ramp(6, 6)) == 2
    assert ring.num_writable == 0
    np.testing.assert_array_equal(ring.read_all(), _ramp(0, 8))


def test_read_into_when_fewer_are_there_then_leaves_the_rest_alone() -> None:
    ring = SampleRing(8)
    ring.write(_ramp(1, 3))
    out = np.full(5, -1.0, dtype=np.float32)
    assert ring.read_into(out) == 3
    np.testing.assert_array_equal(out, [1, 2, 3, -1, -1])


@pytest.mark.property
@given(st.lists(st.tuples(st.sampled_from(["write", "read", "into", "skip"]), st.integers(0, 40))))
def test_ring_when_used_in_any_order_then_behaves_as_a_bounded_queue(
    steps: list[tuple[str, int]],
) -> None:
    ring = SampleRing(16)
    model: list[float] = []
    next_value = 0
    for action, n in steps:
        if action == "write":
            written = ring.write(_ramp(next_value, n))
            assert written == min(n, 16 - len(model))
            model += _ramp(next_value, written).tolist()
            next_value += written
        elif action == "read":
            assert ring.read(n).tolist() == model[:n]
            del model[:n]
        elif action == "into":
            out = np.zeros(n, dtype=np.float32)
            num = ring.read_into(out)
            assert out[:num].tolist() == model[:n]
            del model[:n]
        else:
            assert ring.skip(n) == len(model[:n])
            del model[:n]
        assert ring.num_readable == len(model)
        assert ring.num_written - ring.num_read == len(model)


def test_ring_when_two_threads_share_it_then_every_sample_arrives_once_in_order() -> None:
    ring = SampleRing(1024)
    num_samples = 30_000
    received: list[np.ndarray] = []

    def consume() -> None:
        num = 0
        while num < num_samples:
            block = ring.read(300)
            num += len(block)
            received.append(block)

    consumer = threading.Thread(target=consume, name="consumer")
    consumer.start()
    sent = 0
    while sent < num_samples:
        sent += ring.write(_ramp(sent, min(256, num_samples - sent)))
    consumer.join(30)
    np.testing.assert_array_equal(np.concatenate(received), _ramp(0, num_samples))
