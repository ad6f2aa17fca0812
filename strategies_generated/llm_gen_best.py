# llm_gen_best: an optimization strategy for Kernel Tuner.
# Gaussian-process search by expected improvement per predicted time. Its rounds update
# a model exactly on a small pool. Costs are warped the more, the closer the best ones
# are together.
# Proposed by handoff (mutate, generation 15) and exported by llamea-tune on 2026-11-29.
# Trained on convolution_milo/A100, dedispersion_milo/A100, gemm/RTX_2080_Ti,
# pnpoly/RTX_2080_Ti, reduction/H200, convolution_milo/MI250X, pnpoly/RTX_3090,
# stencil_openmp/Xeon_2_cores, reduction/H100_80GB_HBM3.
# Scores, settings and versions: llm_gen_best.json, beside this file.

import math
import random

import numpy as np

from kernel_tuner.strategies import common
from kernel_tuner.strategies.wrapper import OptAlg
from kernel_tuner.util import StopCriterionReached

FAILED = 1e300  # a config that fails costs more
WARP = 0.06  # added to a cost, counted from the best one, before its logarithm is taken
POOL = 700  # configs that the model is asked about in a round, or some more
KNOWN = 150  # measured configs that it is made from, at most


def _distance(a, b):
    """Euclidean distances, times the square root of 3."""
    return np.sqrt(3.0 * np.maximum((a * a).sum(1)[:, None] + (b * b).sum(1) - 2.0 * (a @ b.T), 0.0))


def _kernel(a, b, eta, near):
    """Interactions (Matern 3/2 in the scaled features that `near` selects) plus main effects (linear in all of them)."""
    r = _distance(a[:, near], b[:, near])
    return (1.0 + r) * np.exp(-r) + eta * (a @ b.T)


def _span(costs):
    """The lowest cost, and the unit in which to count from there: to the median, or to the highest if that is the same."""
    low = float(costs.min())
    return low, float(np.median(costs)) - low or float(costs.max()) - low or 1.0


def _encode(params_values):
    """Make features of parameters: the order of values, powers of two in them, and which value it is.

    Returns a table of centred features for each parameter, by position of the value; the group of each feature, within which
    the relevance is shared; and the expected log lengthscale of each group.
    """
    tables, group, wide = [], [], []
    for values in params_values:
        k = len(values)
        ordered = k == 2 or not any(isinstance(value, str) for value in values)
        parts = []
        if ordered:
            parts.append((np.arange(k)[:, None] / (k - 1.0), 0.0))
            if k >= 5 and all(isinstance(value, (int, np.integer)) and value > 0 for value in values):
                twos = np.array([min((int(value) & -int(value)).bit_length() - 1, 8) for value in values], dtype=float)
                steps = np.diff(twos)
                if steps.min() < 0.0 < steps.max():
                    parts.append((twos[:, None] / np.ptp(twos), 0.5))
        if k > 2:
            parts.append((np.eye(k) * math.sqrt(0.5), 1.5 if ordered else 0.0))
        for part, log_extra in parts:
            group += [len(wide)] * part.shape[1]
            wide.append(log_extra)
        table = np.hstack([part for part, _ in parts])
        tables.append(table - table.mean(0))
    base = sum(log_extra < 1.0 for log_extra in wide)
    return tables, np.array(group), np.array(wide) + math.log(0.42 * math.sqrt(base))


class _Warp:
    """The scale of costs that is modelled: logarithms, counted from a little below the best cost.

    How far below the best the optimum may lie is told by the gap among the leaders, which the warp must not cut short.
    """

    def __init__(self, costs, ease):
        """Make it from costs in order, the best one first, without failures."""
        self.low, self.scale = _span(costs)
        gap = (float(costs[min(4, len(costs) - 1)]) - self.low) / self.scale
        self.offset = max(WARP, min(gap, ease))
        worse = (float(costs[-(-9 * (len(costs) - 1) // 10)]) - self.low) / self.scale
        self.bad = math.log(self.offset + max(worse, 1.0))

    def __call__(self, costs):
        """Warped costs; of what failed, a bad one."""
        works = costs < FAILED
        gaps = (np.where(works, costs, self.low) - self.low) / self.scale
        return np.where(works, np.log(self.offset + gaps), self.bad)


class _Posterior:
    """A Gaussian process of costs and of times over the configs of a pool, exact after every further measurement."""

    def __init__(self, known, pool, targets, theta, group, near, room):
        """Condition on what is known.

        Args:
            known: features of the measured configs, one row each
            pool: those of the configs that it is about
            targets: standardised cost and time of each measured config
            theta: log lengthscales of the groups, log nugget, log weight of main effects
            group: group of each feature
            near: which features interact
            room: how many measurements are to come
        """
        from scipy.linalg.lapack import dpotrf, dtrtrs

        length = np.exp(theta[:-2])[group]
        self.nugget, self.eta = np.exp(theta[-2:])
        self.near = near
        self.b = pool / length
        a = known / length
        self.m = len(a)
        k = _kernel(a, a, self.eta, near)
        k[np.diag_indices(self.m)] += self.nugget
        lower, failed = dpotrf(k, lower=True)
        if failed:
            raise np.linalg.LinAlgError
        self.v = np.empty((self.m + room, len(pool)))
        self.v[: self.m] = dtrtrs(lower, _kernel(a, self.b, self.eta, near), lower=True)[0]
        w = dtrtrs(lower, targets, lower=True)[0]
        self.mean = w.T @ self.v[: self.m]
        self.var = 1.0 + self.eta * (self.b * self.b).sum(1) - (self.v[: self.m] ** 2).sum(0)
        self.s2 = (float(w[:, 0] @ w[:, 0]) + 1.0) / self.m

    def expect(self, j):
        """Take up the certainty that measuring this one of the pool will bring; gives what `learn` needs of it."""
        spread = math.sqrt(max(float(self.var[j]), 0.0) + self.nugget)
        row = _kernel(self.b[j : j + 1], self.b, self.eta, self.near)[0] - self.v[: self.m, j] @ self.v[: self.m]
        row /= spread
        self.var -= row * row
        self.v[self.m] = row
        self.m += 1
        return j, row / spread

    def learn(self, j, row, targets):
        """Take up its cost and time."""
        self.mean += np.outer(targets - self.mean[:, j], row)


class _Scales:
    """What a posterior models: warped costs, standardised, and logarithms of times, centred."""

    def __init__(self, warp, costs, times, shortest):
        """Make them from what the posterior is conditioned on; times count as the shortest at least."""
        self.warp, self.shortest = warp, shortest or 1.0
        z, self.centre, self.dev = _standardised(warp(costs))
        t = np.log(np.maximum(times, self.shortest))
        self.t_centre = float(t.mean())
        self.known = np.column_stack([z, t - self.t_centre])
        self.best = float(z.min())
        self.times = self.known[:, 1].min(), self.known[:, 1].max()

    def __call__(self, costs, times):
        """A row for each measurement: its cost and its time on these scales."""
        z = (self.warp(costs) - self.centre) / self.dev
        return np.column_stack([z, np.log(np.maximum(times, self.shortest)) - self.t_centre])


def _standardised(values):
    """Values with mean 0 and deviation 1, or all 0; their mean and deviation."""
    centre, dev = float(values.mean()), float(values.std())
    if not dev > 1e-12:
        dev = 1.0
    return (values - centre) / dev, centre, dev


def _sample(ranked, good):
    """Of configs in order, as many as a model is made from: the best ones and some 70 others."""
    head = min(good, KNOWN - 70)
    return np.append(ranked[:head], np.random.permutation(ranked[head:])[: KNOWN - head])


def _fit(x, group, near, z, start, prior_mean):
    """MAP estimate of log lengthscales, log nugget and log main-effect weight; the signal variance is profiled out."""
    from scipy.linalg.lapack import dpotrf, dpotri
    from scipy.optimize import minimize

    n = len(x)
    f = len(prior_mean) - 2
    prior_sd = np.append(np.full(f, 1.6), [1.5, 2.0])
    upper = np.arange(n)[:, None] < np.arange(n)

    def objective(theta):
        a = x / np.exp(theta[:f])[group]
        nugget, eta = np.exp(theta[f:])
        c = a[:, near]
        r = _distance(c, c)
        e = np.exp(-r)
        linear = a @ a.T
        k = (1.0 + r) * e + eta * linear
        k[np.diag_indices(n)] = 1.0 + eta * linear.diagonal() + nugget
        lower, failed = dpotrf(k, lower=True)
        if failed:
            return 1e10, np.zeros(f + 2)
        inverse = dpotri(lower, lower=True)[0]
        inverse = np.where(upper, inverse.T, inverse)
        alpha = inverse @ z
        s2 = (float(z @ alpha) + 1.0) / n
        dev = (theta - prior_mean) / prior_sd
        value = 0.5 * n * math.log(s2) + float(np.log(lower.diagonal()).sum()) + 0.5 * float(dev @ dev)
        w = inverse - np.outer(alpha, alpha) / s2
        we = 3.0 * w * e
        grad = np.empty(f + 2)
        column = -eta * (a * (w @ a)).sum(0)
        column[near] += we.sum(1) @ (c * c) - (c * (we @ c)).sum(0)
        grad[:f] = np.bincount(group, weights=column, minlength=f)
        grad[f] = 0.5 * nugget * float(np.trace(w))
        grad[f + 1] = 0.5 * eta * float((w * linear).sum())
        return value, grad + dev / prior_sd

    bounds = [(math.log(0.05), math.log(60.0))] * f
    bounds += [(math.log(1e-4), math.log(0.3)), (math.log(1e-3), math.log(100.0))]
    found = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 7})
    return found.x if found.fun < 1e10 else prior_mean


class ThriftyGaussianProcess(OptAlg):
    """Gaussian-process search by expected improvement per predicted time, in rounds of exact updates on a small pool."""

    def __init__(self, n_initial=1, inflation=0.4, thrift=1.8, ease=0.5, main_effects=4.0):
        """Choose how to search.

        Args:
            n_initial: configs that have to work before a model is made
            inflation: how much uncertainty counts for more while the search is stuck
            thrift: power of the predicted time that expected improvement is divided by at first
            ease: most of the gap among the best that the warp of costs lets go on below them
            main_effects: expected weight of main effects beside interactions
        """
        super().__init__()
        self.n_initial = n_initial
        self.inflation = inflation
        self.thrift = thrift
        self.ease = ease
        self.main_effects = main_effects

    def __call__(self, func, searchspace):
        self.func = func
        self.space = searchspace
        self.configs = searchspace.list
        self.total = len(self.configs)
        self.seen = np.zeros(self.total, dtype=bool)
        self.costs = np.full(self.total, np.inf)
        self.times = np.zeros(self.total)
        self.done = []
        self.best_config, self.best_cost = None, float("inf")
        self.stagnation = 0

        free = [d for d, values in enumerate(searchspace.params_values) if len(values) > 1]
        values = [searchspace.params_values[d] for d in free]
        self.sizes = np.array([len(v) for v in values], dtype=np.int64)
        self.rows = np.asarray(searchspace.get_list_param_indices_numpy()).astype(np.int64)[:, free]
        self.weights = np.random.randint(-(2**48), 2**48, len(free), dtype=np.int64)
        self.codes = self.rows @ self.weights
        self.param_of_value = np.repeat(np.arange(len(free)), self.sizes)
        value = np.arange(len(self.param_of_value)) - (np.cumsum(self.sizes) - self.sizes)[self.param_of_value]
        self.value_codes = value * self.weights[self.param_of_value]
        self.by_code = np.argsort(self.codes)
        self.sorted_codes = self.codes[self.by_code]

        self._read_prior()
        self._initial_design()
        if self._running():
            self._model_search(*_encode(values))
        return self.best_config, self.best_cost

    # ----------------------------------------------------------------- prior

    def _read_prior(self):
        """Take up func.prior_mean: the warped costs that it expects; its good configs, best first, its bad, worst first."""
        self.trend, self.slope, self.extremes = None, 1.0, (np.empty(0, dtype=np.int64),) * 2
        self.choices = self.hits = 0
        mean = getattr(self.func, "prior_mean", None)
        if mean is None:
            return
        mean = np.asarray(mean, dtype=float)
        known = np.isfinite(mean)
        gain = np.where(known, mean, 0.0)  # what is unknown is expected to be average
        gain = gain - np.median(gain)
        ratio = np.exp(np.clip(gain, -20.0, 20.0))
        if not np.ptp(ratio) > 1e-9:
            return
        low, scale = _span(ratio)
        warped = np.log(WARP + (ratio - low) / scale)
        self.trend = np.clip((warped - warped.mean()) / warped.std(), -3.0, 3.0)
        # costs have their longer tail where they are high; a prior that has it where they are low may be upside down,
        # unless it knows good configs alone
        low, high = np.quantile(gain, (0.003, 0.997))
        self.slope = float(high + low >= 0.0 or high <= 0.0)
        order = np.argsort(gain, kind="stable")
        order = order[known[order]]
        self.extremes = order[gain[order] < 0.0], order[gain[order] > 0.0][::-1]

    def _weigh_prior(self, indices, z):
        """Go by the prior (slope 1), by its reverse (-1), or by neither (0).

        It is neither unless a linear trend has a Bayes factor, by BIC, over 3 in the better half of what the model is made from,
        or in its best 20: what tells good from bad may be wrong among the good. And it is neither for as long as the search is
        stuck.
        """
        better = np.argsort(z)[: max(len(z) // 2, 20)]
        n = len(better)
        z, _, _ = _standardised(z[better])
        trend, _, _ = _standardised(self.trend[indices[better]])
        r = float(z @ trend) / n
        r = min(max(r, -1.0 + 1e-9), 1.0 - 1e-9)
        shown = -n * math.log1p(-r * r) > math.log(n) + 2.0 * math.log(3.0)
        self.slope = math.copysign(1.0, r) if shown and self._stuck() <= 1.0 else 0.0

    def _most_promising(self, amount):
        """What the prior, or its reverse, expects most of among what has not been measured, best first."""
        best = self.extremes[self.slope < 0.0]
        return best[~self.seen[best]][: amount if self.slope else 0]

    def _share(self):
        """How often the prior chooses instead of the model: ever more rarely, and the less, the less that gave."""
        return 25.0 / (30.0 + len(self.done)) * (2.0 + self.hits) / (2.0 + self.choices)

    def _judge(self, choices):
        """Count which of the prior's own choices, now measured, are among the best tenth."""
        good = min(np.sort(self.costs[self.done])[len(self.done) // 10], FAILED)
        self.choices += len(choices)
        self.hits += int((self.costs[choices] <= good).sum())

    # ---------------------------------------------------------------- basics

    def _running(self):
        return len(self.done) < self.total and self.func.budget_spent_fraction < 1

    def _stuck(self):
        return self.stagnation / (20.0 + 0.1 * len(self.done))

    def _measure(self, indices):
        """Measure configs side by side; whether one is the best so far."""
        indices = [int(index) for index in indices]
        before, best = self.func.budget_spent_fraction, self.best_cost
        costs = self.func.eval_all([tuple(self.configs[index]) for index in indices])
        self.times[indices] = max(self.func.budget_spent_fraction - before, 0.0) / len(indices)
        self.seen[indices] = True
        self.costs[indices] = costs
        self.done += indices
        for index, cost in zip(indices, costs):
            self.stagnation += 1
            if self.best_config is None or cost < self.best_cost:
                self.best_config, self.best_cost = tuple(self.configs[index]), cost
                self.stagnation = 0
        return self.best_cost < best

    def _times(self, indices):
        """What measuring these took, the usual time where that is not known; and what counts as the shortest."""
        times = self.times[self.done]
        times = times[~np.isnan(times)]
        usual = float(np.median(times)) if len(times) else 0.0
        return np.where(np.isnan(self.times[indices]), usual, self.times[indices]), 0.1 * usual

    def _features(self, tables, indices):
        rows = self.rows[indices]
        parts = [table[rows[:, d]] for d, table in enumerate(tables)]
        if self.trend is not None:
            parts.append(self.slope * self.trend[indices, None])
        return np.hstack(parts)

    def _at(self, codes):
        """The positions of configs by their codes, without those that are no config or are measured."""
        place = np.minimum(np.searchsorted(self.sorted_codes, codes), self.total - 1)
        found = self.by_code[place[self.sorted_codes[place] == codes]]
        return found[~self.seen[found]]

    def _neighbors(self, indices):
        """Unmeasured configs that differ from one of these in one value."""
        others = self.value_codes - (self.rows[indices] * self.weights)[:, self.param_of_value]
        return self._at((self.codes[indices][:, None] + others).ravel())

    # -------------------------------------------------------- initial design

    def _initial_design(self):
        """What a user begins with and the prior's first choice, then spread configs until some have worked."""
        names = self.space.param_names
        known = dict.fromkeys(tuple(result[name] for name in names) for result in self.func.results)
        begun = [self.space.get_param_config_index(config) for config in known]
        for index in begun:
            self._measure([index])
        self.times[begun] = np.nan  # they were measured before, and are free now
        for index in self._most_promising(1):
            self._measure([index])
        bins = self.rows * np.minimum(self.sizes, 4) // self.sizes
        while self._running() and (self.costs < FAILED).sum() < max(self.n_initial, 1):
            batch = []
            while len(batch) < self.func.n_workers and not self.seen.all():
                drawn = np.random.choice(np.flatnonzero(~self.seen), 60)
                shared = (bins[drawn][:, None] == bins[self.seen]).sum((1, 2))
                batch.append(drawn[np.argmin(shared + 0.5 * np.random.random(60))])
                self.seen[batch[-1]] = True
            self._measure(batch)

    # ---------------------------------------------------------- model search

    def _niches(self, ranked):
        """Of configs in order, at most six that differ from all better ones of these in two values or more."""
        rows = self.rows[ranked[:80]]
        apart = (rows[:, None] != rows).sum(2) > 1
        chosen = [0]
        for i in range(1, len(rows)):
            if len(chosen) < 6 and apart[i, chosen].all():
                chosen.append(i)
        return ranked[chosen]

    def _pool(self, ranked, carry):
        """The configs to choose from in a round, in order: near the best niches, of promise before, and drawn at random."""
        free = np.flatnonzero(~self.seen)
        if len(free) <= POOL:
            return free
        centres = self._niches(ranked)
        near = np.random.permutation(self._neighbors(centres))[: POOL // 2]
        # mutants: two or three values of a centre are drawn anew
        rows = self.rows[centres][(len(centres) * np.random.random(100) ** 2).astype(int)]
        change = np.random.random(rows.shape).argsort(1) < np.random.choice((2, 2, 3), 100)[:, None]
        rows = np.where(change, np.random.randint(0, self.sizes, rows.shape), rows)
        parts = [near, self._most_promising(300), carry[~self.seen[carry]], self._at(rows @ self.weights)]
        parts.append(free[np.random.randint(0, len(free), max(POOL - sum(map(len, parts)), POOL // 2))])
        return np.unique(np.concatenate(parts))

    def _model_search(self, tables, group, log_length):
        near = slice(len(group))
        if self.trend is not None:  # one more feature, with a relevance of its own, and a main effect only
            group = np.append(group, len(log_length))
            log_length = np.append(log_length, 0.0)
        theta = prior_mean = np.append(log_length, [math.log(1.2e-3), math.log(self.main_effects)])
        next_fit = 0
        carry = np.empty(0, dtype=np.int64)

        while self._running():
            n = len(self.done)
            ranked = np.array(self.done, dtype=np.int64)
            ranked = ranked[np.argsort(self.costs[ranked])]  # those that failed come last
            good = int((self.costs[ranked] < FAILED).sum())
            warp = _Warp(self.costs[ranked[:good]], self.ease)

            known = _sample(ranked, good)
            if n >= next_fit:
                z, _, _ = _standardised(warp(self.costs[known]))
                if self.trend is not None:
                    self._weigh_prior(known, z)
                theta = _fit(self._features(tables, known), group, near, z, theta, prior_mean)
                next_fit = math.ceil(1.33 * n) + 1

            pool = self._pool(ranked[:good], carry)
            steps = -(-min(3 + n // 18, 16) // self.func.n_workers) * self.func.n_workers
            scales = _Scales(warp, self.costs[known], *self._times(known))
            features = self._features(tables, known), self._features(tables, pool)
            try:
                posterior = _Posterior(*features, scales.known, theta, group, near, min(steps, len(pool)))
            except np.linalg.LinAlgError:
                theta, next_fit = np.append(log_length, [math.log(0.05), 0.0]), n + 10
                self._measure([random.choice(pool)])
                continue
            carry = self._round(pool, posterior, scales)

    def _round(self, pool, posterior, scales):
        """Measure the most promising of a pool, until one is the best so far; gives the most promising that are left."""
        batch, own = [], []  # picks to be measured side by side; each sees the certainty that the earlier will bring
        for _ in range(len(posterior.v) - posterior.m):
            promise = np.where(self.seen[pool], -np.inf, self._promise(posterior, scales))
            j = int(np.argmax(promise))
            favourite = self._most_promising(1)
            if len(favourite) and random.random() < self._share():
                j = int(np.searchsorted(pool, favourite[0]))
                own.append(favourite[0])
            self.seen[pool[j]] = True
            batch.append(posterior.expect(j))
            if len(batch) < self.func.n_workers and not self.seen[pool].all():
                continue
            measured = pool[[j for j, _ in batch]]
            improved = self._measure(measured)
            if own:
                self._judge(own)
            if improved or not self._running():
                break
            for (j, row), targets in zip(batch, scales(self.costs[measured], self.times[measured])):
                posterior.learn(j, row, targets)
            batch, own = [], []
        return pool[np.argsort(-promise)[:60]]

    def _promise(self, posterior, scales):
        """Expected improvement per predicted time, with uncertainty that grows while the search is stuck."""
        from scipy.special import ndtr

        mu, pace = posterior.mean
        sd = np.sqrt(np.maximum(posterior.s2 * posterior.var, 1e-10))
        sd *= 1.0 + self.inflation * math.log1p(self._stuck())
        u = (scales.best - mu) / sd
        improvement = sd * (u * ndtr(u) + np.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi))
        power = self.thrift * (1.0 - self.func.budget_spent_fraction)
        rate = np.maximum(improvement, 0.0) * np.exp(-power * np.clip(pace, *scales.times))
        return rate - 1e-14 * (mu - sd)  # where nothing is to be gained, what is uncertain


_options = {
    "n_initial": ("configs that have to work before a model is made", 1),
    "inflation": (
        "how much uncertainty counts for more while the search is stuck",
        0.4,
    ),
    "thrift": (
        "power of the predicted time that expected improvement is divided by at first",
        1.8,
    ),
    "ease": (
        "most of the gap among the best that the warp of costs lets go on below them",
        0.5,
    ),
    "main_effects": ("expected weight of main effects beside interactions", 4.0),
}


_X0 = {"x0": ("Configs to measure first, in order: one, or a list of them", None)}
_PRIOR = {"prior": ("What is known beforehand: files, results, or two arrays", None)}
_WEIGHS_PRIOR = True  # whether the search asks for func.prior_mean itself


class _SearchEnded(BaseException):
    """Ends a search that goes on after its budget is spent."""


class _CostFunc(common.CostFunc):
    """Kernel Tuner's cost function, with free repeats and an end to endless searches.

    Kernel Tuner's live runner counts every request as an evaluation, known configs too.
    """

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._costs = {}
        self._spent = False
        self._useless = 0

    def eval_all(self, xs, check_restrictions=True):
        if self._spent:
            raise _SearchEnded("the search went on after its budget was spent")
        keys = [(*x, *map(str, x)) for x in xs]  # 1, 1.0 and True are equal
        new = {k: x for k, x in zip(keys, xs, strict=True) if k not in self._costs}
        measured = len(self.unique_results)
        try:
            if new:
                costs = super().eval_all(list(new.values()), check_restrictions)
                self._costs.update(zip(new, costs, strict=True))
            budget = self.tuning_options.budget
            budget.raise_exception_if_done()
            self.budget_spent_fraction = budget.get_fraction_consumed()
            self._useless += 1
            if len(self.unique_results) > measured:
                self._useless = 0
            if self._useless > max(10_000, 100 * measured):
                raise StopCriterionReached("nothing new was asked for in a long time")
        except StopCriterionReached:
            self._spent = True
            self.budget_spent_fraction = 1.0
            raise
        return [self._costs[key] for key in keys]


class _Workers:
    """Kernel Tuner's runner on several GPUs, kept from failing at its first result.

    It looks for failures under the objective, which is a list; they are under __error__.
    """

    def __init__(self, runner):
        self._runner = runner

    def __getattr__(self, name):
        return getattr(self._runner, name)

    def run(self, parameter_space, tuning_options):
        from copy import copy

        options = copy(tuning_options)
        options.objective = "__error__"
        return self._runner.run(parameter_space, options)


def _use_workers(func):
    """Let a search know how many configs it may measure at the same time."""
    func.n_workers = func.runner.available_parallelism()
    if hasattr(func.runner, "workers"):
        func.runner = _Workers(func.runner)


def _configs_of(x0, searchspace):
    """The configs that x0 names, with the values that the search space has for them."""
    if not isinstance(x0, (list, tuple)):
        raise ValueError(f"x0 is {x0!r}; give a list of values, or several lists.")
    several = all(isinstance(part, (list, tuple)) for part in x0)
    return [_config_of(given, searchspace) for given in (x0 if several else [x0])]


def _config_of(given, searchspace):
    names, given = searchspace.param_names, list(given)
    if len(given) != len(names):
        problem = f"x0 has {given!r}, which is {len(given)} values for {len(names)} parameters"
        raise ValueError(f"{problem}; give one for each of {', '.join(names)}.")
    config = []
    for name, value in zip(names, given, strict=True):
        values = searchspace.tune_params[name]
        equal = [known for known in values if known == value]
        if not equal:
            raise ValueError(f"x0 has {value!r} for {name}; give one of {values!r}.")
        config.append(min(equal, key=lambda known: type(known) is not type(value)))
    if not searchspace.is_param_config_valid(tuple(config)):
        raise ValueError(f"x0 has {given!r}, which restrictions forbid; give another.")
    return tuple(config)


def _position(config, func):
    """What to ask a cost function for."""
    if not func.scaling:
        return config
    eps = func.tuning_options.eps
    return common.scale_from_params(config, func.searchspace.tune_params, eps)


def _sampling_first(configs, searchspace):
    """A copy of the search space whose first random samples begin with these configs."""
    from copy import copy

    waiting = list(map(searchspace.get_param_config_index, dict.fromkeys(configs)))
    space = copy(searchspace)

    def beginning(draw):
        def sample(*args, **kwargs):
            drawn = draw(*args, **kwargs)
            size = len(drawn)
            first, waiting[:] = waiting[:size], waiting[size:]
            drawn[:] = (first + [index for index in drawn if index not in first])[:size]
            return drawn

        return sample

    for kind in ("random", "distributed_random", "LHS"):
        name = f"get_{kind}_sample_indices"
        setattr(space, name, beginning(getattr(searchspace, name)))
    return space


def _index_by_value(searchspace):
    """Keep Kernel Tuner from indexing arrays with booleans when it numbers values."""
    params = searchspace.tune_params
    if any(isinstance(value, bool) for values in params.values() for value in values):
        more = {name: [*values, object()] for name, values in params.items()}
        searchspace.tune_params = more
        searchspace.get_list_param_indices_numpy()
        searchspace.tune_params = params


def _know_prior(func, searchspace):
    """Put what is known beforehand where a search finds it: func.prior_mean and func.prior_sd.

    Both are arrays over searchspace.list (expected log of the cost over the median cost, and
    its standard deviation; NaN where nothing is known), or None.
    """
    options = func.tuning_options.strategy_options
    if "prior" in options:
        func.prior_mean, func.prior_sd = _arrays_of(options["prior"], func, searchspace)
    elif not hasattr(func, "prior_mean"):
        func.prior_mean = func.prior_sd = None


def _arrays_of(prior, func, searchspace):
    try:
        from llamea_tune.priors import prior_for_searchspace
    except ImportError:
        return _given_arrays(prior, searchspace)
    runner, asked = func.runner, func.tuning_options
    found = prior_for_searchspace(
        prior,
        searchspace,
        objective=_first(asked.objective),
        higher_is_better=_first(asked.objective_higher_is_better),
        kernel_name=getattr(getattr(runner, "kernel_source", None), "kernel_name", ""),
        device_name=str(getattr(getattr(runner, "dev", None), "name", "")),
    )
    if not getattr(runner, "quiet", True):
        print(f"prior: {found.told if found else 'nothing is known of these configs'}")
    return (found.mean, found.sd) if found else (None, None)


def _first(value):
    return value[0] if isinstance(value, (list, tuple)) else value


def _given_arrays(prior, searchspace):
    import warnings

    import numpy as np

    try:
        mean, sd = (np.array(part, dtype=float) for part in prior)
    except (TypeError, ValueError):
        mean = sd = np.empty(0)
    if mean.shape == sd.shape == (len(searchspace.list),):
        return mean, sd
    warnings.warn(
        "the option prior is left out: where llamea-tune is not installed, it has to be "
        "two arrays (mean, sd) over searchspace.list",
        stacklevel=2,
    )
    return None, None


def _start_from_prior(func, searchspace):
    """Measure what a prior expects most of, while that pays, and give the costs by config.

    Three configs drawn at random, two of them after the first, show what it is worth. It is
    left once its own do not win most comparisons with these, or five in a row bring nothing new.
    """
    import random

    import numpy as np

    if func.prior_mean is None:
        return {}
    known = np.isfinite(func.prior_mean)
    mean = np.where(known, func.prior_mean, 0.0)  # what is unknown is average
    order = np.argsort(mean, kind="stable")
    better = order[known[order] & (mean[order] < np.median(mean))]
    costs, expected, drawn = {}, [], []

    def measure(index):
        config = searchspace.list[index]
        costs[config] = func(_position(config, func))
        return costs[config]

    for index in better[:20]:
        expected.append(measure(index))
        while len(drawn) < min(len(expected) + 1, 3):
            drawn.append(measure(random.randrange(len(searchspace.list))))
        won = np.less.outer(expected, drawn).mean()
        in_vain = len(expected) - 1 - expected.index(min(expected))
        if won <= 0.5 or in_vain >= 5 or func.budget_spent_fraction > 0.5:
            break
    return costs


def _accept_x0(search_class):
    """Let every search begin with the configs that a user gives as x0, whatever its code is.

    They are measured, in order, before it starts. It can learn of them in three ways: the
    first random samples of the search space begin with them, the best one first; they are
    in func.results; and it is free to ask for them again.
    """
    from functools import wraps

    init, search = search_class.__init__, search_class.__call__

    @wraps(init)
    def init_and_keep_x0(self, *args, x0=None, **kwargs):
        init(self, *args, **kwargs)
        if x0 is not None:
            self._x0 = x0

    @wraps(search)
    def search_from_x0(self, func, searchspace):
        _index_by_value(searchspace)
        _know_prior(func, searchspace)
        _use_workers(func)
        x0 = func.tuning_options.strategy_options.get("x0", getattr(self, "_x0", None))
        configs = [] if x0 is None else _configs_of(x0, searchspace)
        costs = {}
        if configs:
            measured = func.eval_all([_position(config, func) for config in configs])
            costs.update(zip(configs, measured, strict=True))
        if not _WEIGHS_PRIOR:
            costs.update(_start_from_prior(func, searchspace))
        if not costs:
            return search(self, func, searchspace)
        space = _sampling_first(sorted(costs, key=costs.__getitem__), searchspace)
        return search(self, func, space)

    if "x0" not in _options:
        search_class.__init__ = init_and_keep_x0
    search_class.__call__ = search_from_x0


_accept_x0(ThriftyGaussianProcess)


def tune(searchspace, runner, tuning_options):
    given = tuning_options.strategy_options
    given = {key: value for key, value in given.items() if key != "prior"}
    values = common.get_options(given, _options)
    hyperparameters = dict(zip(_options, values, strict=True))
    optimizer = ThriftyGaussianProcess(**hyperparameters)
    kwargs = getattr(optimizer, "costfunc_kwargs", {"scaling": False, "snap": False})
    cost_func = _CostFunc(searchspace, tuning_options, runner, **kwargs)
    if kwargs.get("scaling"):
        if "x0" in tuning_options.strategy_options:  # Kernel Tuner takes only one
            tuning_options["eps"] = min(1.0 / len(v) for v in searchspace.params_values)
        else:
            cost_func.get_bounds_x0_eps()
    try:
        optimizer(cost_func, searchspace)
    except (StopCriterionReached, _SearchEnded) as stop:
        if tuning_options.verbose:
            print(stop)
    return cost_func.results


tune.__doc__ = common.get_strategy_docstring(
    "llm_gen_best",
    {**_X0, **_PRIOR, **_options},
)


def _ask_for_workers():
    """Have Kernel Tuner give this module as many workers as tune_kernel(parallel=...) says.

    It looks for the module itself where it has the names of its own strategies.
    """
    import sys

    from kernel_tuner import interface

    if __name__ in sys.modules:
        getattr(interface, "_STRATEGY_PARALLEL", []).append(sys.modules[__name__])


_ask_for_workers()
