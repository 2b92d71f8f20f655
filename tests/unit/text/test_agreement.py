"""Agreement between hypotheses: what settles, and what is held back."""

from dataclasses import dataclass

import pytest

from engine.text.agreement import AgreementPolicy, AgreementState, common_prefix, word_key

pytestmark = pytest.mark.unit

SECOND = 16_000


@dataclass(frozen=True)
class Said:
    text: str
    end: int
    probability: float = 1.0


def said(text: str, *, first_end: int = SECOND // 2, step: int = SECOND // 2) -> list[Said]:
    return [Said(f" {word}", first_end + i * step) for i, word in enumerate(text.split())]


@pytest.fixture
def policy() -> AgreementPolicy:
    return AgreementPolicy(min_distance=SECOND, edge_hold=SECOND // 2)


def test_word_key_with_case_and_signs_then_they_do_not_matter() -> None:
    assert word_key(" Young,") == word_key("young") == "young"
    assert word_key(" don't") == "don't"
    assert word_key(" —") == "—"


def test_common_prefix_when_a_word_differs_then_counts_up_to_it() -> None:
    assert common_prefix(said("he was not"), said("He was, now")) == 2
    assert common_prefix(said("he was"), said("he was not")) == 2
    assert common_prefix([], said("he")) == 0


def test_settle_when_only_one_hypothesis_then_nothing(policy: AgreementPolicy) -> None:
    assert policy.settle(AgreementState(), said("he was not an"), 4 * SECOND) == 0


def test_settle_when_two_agree_far_enough_apart_then_their_common_words(
    policy: AgreementPolicy,
) -> None:
    state = AgreementState()
    policy.settle(state, said("he was now"), 2 * SECOND)
    assert policy.settle(state, said("he was not an ill"), 3 * SECOND) == 2


def test_settle_when_hypotheses_are_near_then_waits_for_one_far_enough(
    policy: AgreementPolicy,
) -> None:
    state = AgreementState()
    words = said("he was not an ill")
    assert policy.settle(state, words, 3 * SECOND) == 0
    assert policy.settle(state, words, 3 * SECOND + SECOND // 2) == 0
    assert policy.settle(state, words, 4 * SECOND) == 4


def test_settle_when_words_end_near_the_edge_then_they_are_held(policy: AgreementPolicy) -> None:
    state = AgreementState()
    words = said("he was not an ill")  # ends at 0.5, 1.0, 1.5, 2.0, 2.5 s
    policy.settle(state, words, SECOND)
    assert policy.settle(state, words, 2 * SECOND) == 3


def test_settle_when_all_agree_then_the_last_word_waits(policy: AgreementPolicy) -> None:
    state = AgreementState()
    policy.settle(state, said("he was"), 5 * SECOND)
    assert policy.settle(state, said("he was"), 9 * SECOND) == 1


def test_settle_after_words_settled_then_later_hypotheses_go_on_behind_them(
    policy: AgreementPolicy,
) -> None:
    state = AgreementState()
    words = said("he was not an ill young man")
    policy.settle(state, words[:4], 2 * SECOND)
    assert policy.settle(state, words[:5], 3 * SECOND) == 4
    assert policy.settle(state, words[4:], 4 * SECOND) == 1


def test_settle_when_an_earlier_hypothesis_disagreed_with_what_settled_then_it_is_forgotten(
    policy: AgreementPolicy,
) -> None:
    state = AgreementState()
    policy.settle(state, said("he was not"), 2 * SECOND)
    policy.settle(state, said("she saw not an"), 2 * SECOND + SECOND // 2)
    assert policy.settle(state, said("he was not an"), 3 * SECOND) == 3
    assert all(common_prefix(h.words, said("an")) or not h.words for h in state.heard)


def test_settle_over_a_long_time_then_the_state_stays_small(policy: AgreementPolicy) -> None:
    state = AgreementState()
    for i in range(200):
        policy.settle(state, said(f"w{i} x{i}"), i * SECOND // 4)
    assert len(state.heard) <= 6
