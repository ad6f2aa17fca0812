"""The Pareto front of score against own compute."""

from hypothesis import given
from hypothesis import strategies as st

from llamea_tune.scoring.pareto import pareto_front

NUMBERS = st.floats(-1, 1) | st.sampled_from((0.0, 0.5, 1.0))  # some of them alike
POINTS = st.lists(st.tuples(NUMBERS, NUMBERS), max_size=12)


def beats(other, point):
    return other[0] >= point[0] and other[1] <= point[1] and other != point


@given(POINTS)
def test_nobody_on_the_front_is_beaten_and_all_others_are_by_somebody_on_it(points):
    front = pareto_front(points)
    assert len(front) == len(points)
    winners = [point for point, on_front in zip(points, front, strict=True) if on_front]
    for point, on_front in zip(points, front, strict=True):
        assert on_front != any(beats(winner, point) for winner in winners)


@given(POINTS.filter(bool))
def test_the_best_score_and_the_least_own_compute_are_on_it(points):
    winners = {point for point, on_front in zip(points, pareto_front(points), strict=True) if on_front}
    assert max(score for score, _ in points) == max(score for score, _ in winners)
    assert min(own for _, own in points) == min(own for _, own in winners)


@given(POINTS, st.randoms())
def test_the_order_does_not_matter_and_equals_share_their_fate(points, random):
    fate = dict(zip(points, pareto_front(points), strict=True))
    shuffled = random.sample(points, len(points))
    assert pareto_front(shuffled) == tuple(fate[point] for point in shuffled)
