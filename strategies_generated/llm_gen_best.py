# llm_gen_best: an optimization strategy for Kernel Tuner.
# Gaussian conditioning over the whole discrete space by rank-one pivot updates (each
# measurement updates posterior mean and variance of all configurations cheaply), with
# per-parameter kernels that mix ordinal and nominal distance and an additive with a
# joint part, learned by marginal likelihood at geometrically spaced moments. The same
# posterior drives the maximum-variance start, expected improveme…
# Proposed by handoff (initial, generation 0) and exported by llamea-tune on 2026-11-28.
# Trained on convolution_milo/A100, convolution_milo/MI250X, dedispersion_milo/A4000,
# gemm/RTX_2080_Ti, pnpoly/RTX_3090.
# Scores, settings and versions: llm_gen_best.json, beside this file.

import math
import random

import numpy as np

from kernel_tuner.strategies import common
from kernel_tuner.strategies.wrapper import OptAlg
from kernel_tuner.util import StopCriterionReached


class _LevelKernel:
    """Kernel on parameter positions: (1 - rho) * product + rho * mean of per-parameter kernels."""

    mixes = (0.05, 0.3, 0.85)
    rhos = (0.0, 0.25, 0.55)
    nuggets = (1e-3, 1e-2, 5e-2)

    def __init__(self, levels):
        self.levels = levels
        self.dims = len(levels)
        self.theta = [0.8] * self.dims
        self.mix = [0.3] * self.dims
        self.rho = 0.25
        self.nugget = 1e-2
        self.scale2 = 1.0
        self.base = []
        for m in levels:
            r = np.arange(m) / max(1, m - 1)
            dist = np.abs(r[:, None] - r[None, :]) ** 1.5
            self.base.append((dist, 1.0 - np.eye(m)))
        self.make_tables()

    def table(self, d, theta, mix):
        dist, differ = self.base[d]
        return np.exp(-theta * (mix * differ + (1.0 - mix) * dist))

    def make_tables(self):
        self.tables = [self.table(d, self.theta[d], self.mix[d]).astype(np.float32) for d in range(self.dims)]

    def column(self, x, columns):
        """Kernel between one point and all points of the pool (columns: one position array per parameter)."""
        prod = None
        total = None
        for d in range(self.dims):
            k = self.tables[d][x[d]][columns[d]]
            if prod is None:
                prod, total = k.copy(), k.copy()
            else:
                prod *= k
                total += k
        return (1.0 - self.rho) * prod + (self.rho / self.dims) * total

    def _score(self, mats, rho, nugget, y):
        from scipy.linalg import solve_triangular

        n = len(y)
        prod = mats[0].copy()
        total = mats[0].copy()
        for k in mats[1:]:
            prod *= k
            total += k
        K = (1.0 - rho) * prod + (rho / self.dims) * total
        K[np.diag_indices(n)] += nugget
        try:
            L = np.linalg.cholesky(K)
        except np.linalg.LinAlgError:
            return -float("inf"), 1.0
        a = solve_triangular(L, y, lower=True, check_finite=False)
        s2 = (float(a @ a) + 2.0) / (n + 2.0)
        return -0.5 * (n + 2.0) * math.log(s2) - float(np.log(np.diag(L)).sum()), s2

    @staticmethod
    def _prior(theta, mix):
        return -0.5 * (math.log(theta / 0.8) / 1.3) ** 2 - 0.3 * abs(mix - 0.3)

    def fit(self, X, y, sweeps):
        mats = []
        for d in range(self.dims):
            t = self.table(d, self.theta[d], self.mix[d])
            mats.append(t[np.ix_(X[:, d], X[:, d])])
        like, s2 = self._score(mats, self.rho, self.nugget, y)
        for _ in range(sweeps):
            order = list(range(self.dims))
            random.shuffle(order)
            for d in order:
                theta, mix = self.theta[d], self.mix[d]
                options = [(min(60.0, theta * 2.7), mix), (max(0.003, theta / 2.7), mix)]
                if self.levels[d] > 2:
                    options += [(theta, m) for m in self.mixes if m != mix]
                current = like + self._prior(theta, mix)
                for th, mx in options:
                    old = mats[d]
                    mats[d] = self.table(d, th, mx)[np.ix_(X[:, d], X[:, d])]
                    new_like, new_s2 = self._score(mats, self.rho, self.nugget, y)
                    value = new_like + self._prior(th, mx)
                    if value > current + 1e-9:
                        current, like, s2 = value, new_like, new_s2
                        self.theta[d], self.mix[d] = th, mx
                    else:
                        mats[d] = old
            for rho in self.rhos:
                if rho != self.rho:
                    new_like, new_s2 = self._score(mats, rho, self.nugget, y)
                    if new_like > like:
                        like, s2, self.rho = new_like, new_s2, rho
            for nugget in self.nuggets:
                if nugget != self.nugget:
                    new_like, new_s2 = self._score(mats, self.rho, nugget, y)
                    if new_like > like:
                        like, s2, self.nugget = new_like, new_s2, nugget
        self.scale2 = s2
        self.make_tables()


class PivotFieldSearch(OptAlg):
    """Conditions a Gaussian field over all configurations by rank-one pivots and searches with its posterior."""

    def __init__(self, n_initial=8, gap_offset=0.12, refit_growth=1.25, max_train=300,
                 local_period=4, patience=12, max_pool=20000):
        super().__init__()
        self.n_initial = n_initial
        self.gap_offset = gap_offset
        self.refit_growth = refit_growth
        self.max_train = max_train
        self.local_period = local_period
        self.patience = patience
        self.max_pool = max_pool

    # ---- warping of costs, fixed between two rebuilds ----

    def _set_warp(self, costs):
        valid = np.array([c for c in costs if c < 1e300])
        self.has_valid = len(valid) > 0
        self.w_mean, self.w_std = 0.0, 1.0
        if not self.has_valid:
            return
        self.w_best = float(valid.min())
        gap = float(np.median(valid)) - self.w_best
        if gap <= 0:
            gap = float(valid.max()) - self.w_best
        if gap <= 0:
            gap = max(abs(self.w_best) * 1e-3, 1e-12)
        self.w_gap = gap
        w = np.array([self._raw(c) for c in valid])
        self.w_worst = float(w.max())
        full = np.array([self._raw(c) for c in costs])
        self.w_mean = float(full.mean())
        self.w_std = max(float(full.std()), 1e-6)

    def _raw(self, cost):
        if not self.has_valid:
            return 0.0
        if cost > 1e300:
            return self.w_worst
        off = self.gap_offset
        u = (cost - self.w_best) / self.w_gap + off
        if u < off:
            return math.log(off) + max(-10.0, (u - off) / off)
        return math.log(u)

    def _warp(self, cost):
        return (self._raw(cost) - self.w_mean) / self.w_std

    # ---- the field ----

    def _subset(self, limit):
        n = len(self.history)
        if n <= limit:
            return list(range(n))
        order = sorted(range(n), key=lambda i: self.history[i][1])
        half = limit // 2
        return order[:half] + random.sample(order[half:], limit - half)

    def _rebuild(self):
        costs = [c for _, c in self.history]
        self._set_warp(costs)
        n = len(self.history)
        if n >= 4 and self.has_valid:
            chosen = self._subset(min(160, self.max_train))
            X = self.rows[[self.history[i][0] for i in chosen]]
            y = np.array([self._warp(costs[i]) for i in chosen])
            self.kernel.fit(X, y, 2 if n < 60 else 1)
        limit = self.max_train if n <= self.max_train else max(8, int(0.75 * self.max_train))
        train = self._subset(limit)
        if self.size <= self.max_pool:
            pool = np.arange(self.size)
        else:
            parts = [np.array(random.sample(range(self.size), self.max_pool)),
                     np.array([i for i, _ in self.history], dtype=int)]
            for i, _ in sorted(self.history, key=lambda h: h[1])[:5]:
                parts.append(np.flatnonzero((self.rows != self.rows[i]).sum(axis=1) == 1))
            pool = np.unique(np.concatenate(parts).astype(int))
        self.pool = pool
        self.pool_rows = self.rows[pool]
        self.columns = [np.ascontiguousarray(self.pool_rows[:, d]) for d in range(self.kernel.dims)]
        self.open = np.array([int(i) not in self.measured for i in pool], dtype=bool)
        m = len(pool)
        self.V = np.zeros((len(train) + 32, m), dtype=np.float32)
        self.rank = 0
        self.mean = np.zeros(m)
        self.var = np.ones(m)
        for i in train:
            self._condition(self.history[i][0], self.history[i][1])
        self.next_rebuild = max(n + 3, int(math.ceil(n * self.refit_growth)))
        self.next_rebuild = min(self.next_rebuild, n + max(20, self.max_train // 4))

    def _position(self, index):
        return int(np.searchsorted(self.pool, index))

    def _condition(self, index, cost):
        j = self._position(index)
        k = self.rank
        if k == len(self.V):
            grown = np.zeros((k + 64, self.V.shape[1]), dtype=np.float32)
            grown[:k] = self.V
            self.V = grown
        column = self.kernel.column(self.pool_rows[j], self.columns)
        if k:
            column = column - self.V[:k, j].copy() @ self.V[:k]
        pivot = math.sqrt(max(float(self.var[j]), 0.0) + self.kernel.nugget)
        v = column / pivot
        self.V[k] = v
        self.rank = k + 1
        self.mean += v * ((self._warp(cost) - float(self.mean[j])) / pivot)
        self.var -= v * v
        np.maximum(self.var, 1e-7, out=self.var)

    # ---- choice of the next configuration ----

    def _expected_improvement(self, best_y):
        from scipy.special import ndtr

        sd = np.sqrt(self.var * self.kernel.scale2)
        gain = best_y - self.mean
        z = gain / sd
        return gain * ndtr(z) + sd * np.exp(-0.5 * z * z) * 0.3989422804014327

    def _choose_initial(self):
        options = np.flatnonzero(self.open)
        if len(options) > 60:
            options = np.array(random.sample(list(options), 60))
        return int(options[int(np.argmax(self.var[options]))])

    def _choose(self, step):
        if len(self.history) < self.n_initial or not self.has_valid:
            return self._choose_initial()
        best_index, best_cost = self.best
        if self.local_period > 1 and step % self.local_period == 0:
            ranked = sorted(self.history, key=lambda h: h[1])
            reach = min(len(ranked), 1 + self.stall // max(1, self.patience), 8)
            first = random.randrange(reach)
            for center, cost in ranked[first:first + 3]:
                if cost > 1e300:
                    break
                near = ((self.pool_rows != self.rows[center]).sum(axis=1) == 1) & self.open
                near = np.flatnonzero(near)
                if len(near):
                    sd = np.sqrt(self.var[near] * self.kernel.scale2)
                    return int(near[int(np.argmin(self.mean[near] - 0.4 * sd))])
        ei = self._expected_improvement(self._warp(best_cost))
        if self.stall >= self.patience and step % 2 == 1:
            j = self._position(best_index)
            corr = self.kernel.column(self.pool_rows[j], self.columns)
            ei = ei * np.maximum(1e-6, 1.0 - corr)
        ei = np.where(self.open, ei, -1.0)
        j = int(np.argmax(ei))
        if not self.open[j] or not ei[j] > 0:
            options = np.flatnonzero(self.open)
            sd = np.sqrt(self.var[options] * self.kernel.scale2)
            j = int(options[int(np.argmin(self.mean[options] - 2.0 * sd))])
        return j

    def __call__(self, func, searchspace):
        configs = searchspace.list
        self.size = len(configs)
        rows = np.asarray(searchspace.get_list_param_indices_numpy()).astype(np.int64)
        keep = [d for d in range(rows.shape[1]) if rows[:, d].max() > rows[:, d].min()]
        if not keep:
            keep = [0]
        self.rows = np.ascontiguousarray(rows[:, keep])
        self.kernel = _LevelKernel([int(self.rows[:, d].max()) + 1 for d in range(len(keep))])
        self.history = []
        self.measured = set()
        self.best = (None, float("inf"))
        self.stall = 0
        self.has_valid = False
        self._rebuild()
        self.next_rebuild = max(2, self.n_initial)
        step = 0
        while func.budget_spent_fraction < 1 and len(self.measured) < self.size:
            if len(self.history) >= self.next_rebuild or not self.open.any():
                self._rebuild()
                if not self.open.any():
                    rest = [i for i in range(self.size) if i not in self.measured]
                    index = random.choice(rest)
                    cost = func(tuple(configs[index]))
                    self.measured.add(index)
                    self.history.append((index, cost))
                    if cost < self.best[1]:
                        self.best = (index, cost)
                        self.stall = 0
                    self.next_rebuild = len(self.history)
                    continue
            j = self._choose(step)
            step += 1
            index = int(self.pool[j])
            cost = func(tuple(configs[index]))
            self.measured.add(index)
            self.open[j] = False
            self.history.append((index, cost))
            if cost < self.best[1]:
                self.best = (index, cost)
                self.stall = 0
            else:
                self.stall += 1
            if len(self.history) < self.next_rebuild:
                self._condition(index, cost)
        best_index, best_cost = self.best
        if best_index is None:
            return None, float("inf")
        return configs[best_index], best_cost


_options = {
    "n_initial": ("n initial", 8),
    "gap_offset": ("gap offset", 0.12),
    "refit_growth": ("refit growth", 1.25),
    "max_train": ("max train", 300),
    "local_period": ("local period", 4),
    "patience": ("patience", 12),
    "max_pool": ("max pool", 20000),
}


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
        new = {tuple(x): x for x in xs if tuple(x) not in self._costs}
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
        return [self._costs[tuple(x)] for x in xs]


def tune(searchspace, runner, tuning_options):
    if "x0" in tuning_options.strategy_options:
        raise ValueError("A starting point (x0) is not supported by this strategy.")
    values = common.get_options(tuning_options.strategy_options, _options)
    hyperparameters = dict(zip(_options, values, strict=True))
    optimizer = PivotFieldSearch(**hyperparameters)
    kwargs = getattr(optimizer, "costfunc_kwargs", {"scaling": False, "snap": False})
    cost_func = _CostFunc(searchspace, tuning_options, runner, **kwargs)
    if kwargs.get("scaling"):
        cost_func.get_bounds_x0_eps()
    try:
        optimizer(cost_func, searchspace)
    except (StopCriterionReached, _SearchEnded) as stop:
        if tuning_options.verbose:
            print(stop)
    return cost_func.results


tune.__doc__ = common.get_strategy_docstring(
    "llm_gen_best",
    _options,
)
