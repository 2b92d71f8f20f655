"""Heights of rows: changed step by step they equal a plain list of heights."""

import random

import pytest

from app.views.transcript.row_heights import RowHeights

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("seed", range(5))
def test_spliced_and_measured_heights_equal_a_list(seed: int) -> None:
    rng = random.Random(seed)
    heights, plain = RowHeights(), list[int]()
    for _ in range(200):
        if plain and rng.random() < 0.3:
            row, height = rng.randrange(len(plain)), rng.randrange(1, 90)
            assert heights.set(row, height) == height - plain[row]
            assert heights.is_exact(row)
            plain[row] = height
        else:
            first = rng.randint(0, len(plain))
            removed = rng.randint(0, min(5, len(plain) - first))
            fresh = [rng.randrange(1, 90) for _ in range(rng.randrange(12))]
            heights.splice(first, removed, fresh)
            plain[first : first + removed] = fresh
            assert not any(heights.is_exact(first + i) for i in range(len(fresh)))
        assert heights.total == sum(plain)
        if plain:
            row = rng.randrange(len(plain))
            assert heights.top(row) == sum(plain[:row])
            assert heights.height(row) == plain[row]
            assert heights.row_at(heights.top(row)) == row
            assert heights.row_at(heights.top(row) + plain[row] - 1) == row


def test_a_row_is_found_outside_of_all_rows_too() -> None:
    heights = RowHeights()
    assert heights.row_at(5) == -1
    assert heights.total == 0
    heights.splice(0, 0, [10, 20])
    assert heights.row_at(-5) == 0
    assert heights.row_at(1000) == 1


def test_what_was_measured_stays_measured_where_rows_move() -> None:
    heights = RowHeights()
    heights.splice(0, 0, [10, 20, 30])
    heights.set(2, 33)
    heights.splice(0, 1, [5, 5, 5])
    assert heights.is_exact(4)
    assert heights.height(4) == 33
    assert not heights.is_exact(3)
