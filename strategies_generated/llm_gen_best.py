# llm_gen_best: an optimization strategy for Kernel Tuner.
# Gaussian-process search over warped costs in rounds (one candidate pool per round,
# exact rank-one updates, local picks that rotate over separated niches when stuck). The
# covariance is changed: each parameter of three or more values gets an identity
# distance with one learned relevance beside its ordinal one, and a linear kernel on the
# same scaled features, with a learned weight, adds main effects …
# Proposed by handoff (mutate, generation 2) and exported by llamea-tune on 2026-11-28.
# Trained on convolution_milo/A100, convolution_milo/MI250X, dedispersion_milo/A4000,
# gemm/RTX_2080_Ti, pnpoly/RTX_3090.
# Scores, settings and versions: llm_gen_best.json, beside this file.

import math
import random

import numpy as np

from kernel_tuner.strategies import common
from kernel_tuner.strategies.wrapper import OptAlg
from kernel_tuner.util import StopCriterionReached


def _sqdist(a, b):
    d = (a * a).sum(1)[:, None] + (b * b).sum(1)[None, :] - 2.0 * (a @ b.T)
    return np.maximum(d, 0.0)


def _matern(d2):
    r = np.sqrt(3.0 * d2)
    return (1.0 + r) * np.exp(-r)


def _kernel(a, b, eta, near):
    """Interactions (Matern in the scaled features that `near` selects) plus main effects (linear in all of them)."""
    return _matern(_sqdist(a[:, near], b[:, near])) + eta * (a @ b.T)


class _Encoder:
    """Maps rows of value positions to centred numeric features by table lookup; columns of a group share a relevance."""

    def __init__(self, params_values, identity_prior):
        self.tables = []
        wide = []
        group = []
        identities = 0
        for d, values in enumerate(params_values):
            values = list(values)
            k = len(values)
            if k < 2:
                continue
            if k > 2 and any(isinstance(v, str) for v in values):
                table = np.eye(k) * math.sqrt(0.5)
                self.tables.append((d, table - table.mean(0)))
                group += [len(wide)] * k
                wide.append(0.0)
                continue
            columns = [np.arange(k) / (k - 1.0)]
            group.append(len(wide))
            wide.append(0.0)
            if k >= 5 and all(isinstance(v, (int, np.integer)) and v > 0 for v in values):
                twos = []
                for v in values:
                    v, t = int(v), 0
                    while v % 2 == 0 and t < 8:
                        v //= 2
                        t += 1
                    twos.append(t)
                twos = np.array(twos, dtype=float)
                steps = np.diff(twos)
                if twos.max() > twos.min() and (steps > 0).any() and (steps < 0).any():
                    columns.append((twos - twos.min()) / (twos.max() - twos.min()))
                    group.append(len(wide))
                    wide.append(0.5)
            table = np.array(columns, dtype=float).T
            if k >= 3:
                table = np.hstack([table, np.eye(k) * math.sqrt(0.5)])
                group += [len(wide)] * k
                wide.append(identity_prior)
                identities += 1
            self.tables.append((d, table - table.mean(0)))
        self.log_extra = np.array(wide) if wide else np.zeros(1)
        self.group = np.array(group if group else [0], dtype=np.int64)
        self.base = max(1, len(wide) - identities)
        self.near = slice(None)

    def __call__(self, rows):
        if not self.tables:
            return np.zeros((len(rows), 1))
        return np.hstack([table[rows[:, d]] for d, table in self.tables])

    def add_trend(self, log_extra):
        """Make room for one more feature, the last: it has a relevance of its own, and a main effect only."""
        self.near = slice(len(self.group))
        self.group = np.append(self.group, len(self.log_extra))
        self.log_extra = np.append(self.log_extra, log_extra)


def _prior_trend(mean, warp):
    """The warped costs that a prior expects, centred and scaled; its good configs, best first, and its bad ones, worst first."""
    mean = np.asarray(mean, dtype=float)
    known = np.isfinite(mean)
    mean = np.where(known, mean, 0.0)  # what is unknown is expected to be average
    gain = mean - np.median(mean)
    ratio = np.exp(np.clip(gain, -20.0, 20.0))
    low, high = float(ratio.min()), float(ratio.max())
    if not high - low > 1e-9:
        return np.zeros(len(mean)), (np.empty(0, dtype=np.int64),) * 2
    scale = 1.0 - low if low < 1.0 else high - low
    warped = np.log(warp + (ratio - low) / scale)
    trend = np.clip((warped - warped.mean()) / warped.std(), -3.0, 3.0)
    order = np.argsort(gain, kind="stable")
    order = order[known[order]]
    return trend, (order[gain[order] < 0.0], order[gain[order] > 0.0][::-1])


def _fit_hyper(x, group, near, z, starts, prior_mean, prior_sd, maxiter):
    """MAP estimate of log lengthscales, log nugget and log main-effect weight; the signal variance is profiled out."""
    from scipy.linalg import cho_solve, cholesky
    from scipy.optimize import minimize

    n = len(x)
    f = len(prior_mean) - 2
    eye = np.eye(n)
    diag = np.arange(n)

    def objective(th):
        a = x / np.exp(th[:f])[group]
        nug = math.exp(th[f])
        eta = math.exp(th[f + 1])
        c = a[:, near]
        r = np.sqrt(3.0 * _sqdist(c, c))
        e = np.exp(-r)
        k = (1.0 + r) * e
        k[diag, diag] = 1.0 + nug
        lin = a @ a.T
        k += eta * lin
        try:
            low = cholesky(k, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            return 1e10, np.zeros(f + 2)
        kinv = cho_solve((low, True), eye, check_finite=False)
        alpha = kinv @ z
        s2 = (float(z @ alpha) + 1.0) / n
        dev = (th - prior_mean) / prior_sd
        value = 0.5 * n * math.log(s2) + float(np.log(np.diag(low)).sum()) + 0.5 * float(dev @ dev)
        w = kinv - np.outer(alpha, alpha) / s2
        we = 3.0 * w * e
        grad = np.empty(f + 2)
        column = -eta * (a * (w @ a)).sum(0)
        column[near] += we.sum(1) @ (c * c) - (c * (we @ c)).sum(0)
        grad[:f] = np.bincount(group, weights=column, minlength=f)
        grad[f] = 0.5 * nug * float(np.trace(w))
        grad[f + 1] = 0.5 * eta * float((w * lin).sum())
        return value, grad + dev / prior_sd

    bounds = [(math.log(0.05), math.log(60.0))] * f
    bounds += [(math.log(1e-4), math.log(0.3)), (math.log(1e-3), math.log(100.0))]
    best_th, best_val = starts[0], float("inf")
    for start in starts:
        res = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": maxiter})
        if np.isfinite(res.fun) and res.fun < best_val:
            best_th, best_val = np.array(res.x), float(res.fun)
    return best_th


class MyOptimizer(OptAlg):
    """Gaussian-process search in rounds with exact sequential updates on a pool, and niche rotation when stuck."""

    def __init__(self, n_initial=10, local_share=0.2, warp=0.1, length_prior=0.5, inflation=0.3, train_cap=400,
                 identity_prior=1.0, main_effects=1.0):
        super().__init__()
        self.identity_prior = identity_prior
        self.main_effects = main_effects
        self.n_initial = n_initial
        self.local_share = local_share
        self.warp = warp
        self.length_prior = length_prior
        self.inflation = inflation
        self.train_cap = train_cap

    def __call__(self, func, searchspace):
        self.func = func
        self.workers = func.n_workers
        self.space = searchspace
        self.configs = searchspace.list
        self.total = len(self.configs)
        self.rows = np.asarray(searchspace.get_list_param_indices_numpy()).astype(np.int64)
        self.encode = _Encoder(searchspace.params_values, self.identity_prior)
        self._read_prior()
        self.seen = np.zeros(self.total, dtype=bool)
        self.costs = {}
        self.good = []
        self.failed = []
        self.best_config, self.best_cost = None, float("inf")
        self.stagnation = 0
        self.neighbor_cache = {}

        self._initial_design()
        if self._running():
            self._model_search()
        return self.best_config, self.best_cost

    # ----------------------------------------------------------------- prior

    def _read_prior(self):
        """Take up func.prior_mean, the expected log of each config's cost over the median, NaN where unknown, or None."""
        self.trend, self.slope, self.extremes = None, 0.0, (np.empty(0, dtype=np.int64),) * 2
        mean = getattr(self.func, "prior_mean", None)
        if mean is None:
            return
        trend, self.extremes = _prior_trend(mean, self.warp)
        if trend.any():
            self.trend, self.slope = trend[:, None], 1.0
            self.encode.add_trend(-math.log(self.length_prior * math.sqrt(self.encode.base)))

    def _features(self, indices):
        x = self.encode(self.rows[indices])
        return x if self.trend is None else np.hstack([x, self.slope * self.trend[indices]])

    def _weigh_prior(self, indices, z):
        """Go by the prior (slope 1), by its reverse (-1), or by neither (0).

        It is neither unless a linear trend in what was measured has a Bayes factor, by BIC, over 3; and for as long as the
        search is stuck.
        """
        if self.trend is None:
            return
        trend = self.trend[indices, 0]
        unlike = float(np.std(trend)) > 0.0
        r = min(max(float(np.corrcoef(trend, z)[0, 1]), -1.0 + 1e-9), 1.0 - 1e-9) if unlike else 0.0
        shown = -len(z) * math.log1p(-r * r) > math.log(len(z)) + 2.0 * math.log(3.0)
        self.slope = math.copysign(1.0, r) if shown and self.stagnation <= self._patience() else 0.0

    def _most_promising(self, amount):
        """What the prior, or its reverse, expects most of among what has not been measured, best first."""
        best = self.extremes[self.slope < 0.0]
        return best[~self.seen[best]][:amount].tolist()

    def _outdoes(self, expected, drawn):
        """Whether most pairs of a config that the prior chose and one that it did not speak for the prior, or none yet."""
        won = [self.costs[i] < self.costs[j] for i in expected for j in drawn]
        return not won or 2 * sum(won) > len(won)

    # ---------------------------------------------------------------- basics

    def _running(self):
        return len(self.costs) < self.total and self.func.budget_spent_fraction < 1

    def _measure(self, *indices):
        """Measures configs side by side and returns their costs."""
        configs = [tuple(self.configs[index]) for index in indices]
        costs = self.func.eval_all(configs)
        for index, config, cost in zip(map(int, indices), configs, costs):
            self.seen[index] = True
            self.costs[index] = cost
            self.stagnation += 1
            if cost < 1e300:
                self.good.append(index)
            else:
                self.failed.append(index)
            if self.best_config is None or cost < self.best_cost:
                self.best_config, self.best_cost = config, cost
                self.stagnation = 0
        return costs

    def _patience(self):
        return 20.0 + 0.1 * len(self.costs)

    def _neighbors(self, index):
        found = self.neighbor_cache.get(index)
        if found is None:
            found = []
            for config in self.space.get_neighbors(tuple(self.configs[index]), "Hamming"):
                position = self.space.get_param_config_index(tuple(config))
                if position is not None:
                    found.append(int(position))
            self.neighbor_cache[index] = found
        return [i for i in found if not self.seen[i]]

    # -------------------------------------------------------- initial design

    def _initial_design(self):
        bins, counts = [], []
        for values in self.space.params_values:
            k = len(values)
            b = min(k, 4)
            bins.append((np.arange(k) * b) // k)
            counts.append(np.zeros(b))

        def take(index):
            self.seen[index] = True
            for d in range(len(bins)):
                counts[d][bins[d][self.rows[index, d]]] += 1.0

        names = self.space.param_names
        known = [tuple(result[name] for name in names) for result in self.func.results]
        for config in dict.fromkeys(known):  # a user's x0
            index = self.space.get_param_config_index(config)
            take(index)
            self._measure(index)
        expected, drawn = [], []  # what the prior chooses, and what shows whether it is right
        while self._running():
            n = len(self.costs)
            right = self._outdoes(expected, drawn)
            if len(self.good) >= 3:
                enough = min(self.n_initial, 6) if expected and right else self.n_initial
                if n >= enough or (n >= 4 and self.func.budget_spent_fraction > 0.12):
                    return
            batch = []
            while len(batch) < self.workers and not self.seen.all():
                promising = self._most_promising(1)
                if promising and right and (not expected or len(expected) < len(drawn)):
                    expected += promising
                    batch += promising
                    take(batch[-1])
                    continue
                free = np.flatnonzero(~self.seen)
                cand = free[np.random.randint(0, len(free), size=60)]
                score = np.random.random(len(cand)) * 0.5
                for d in range(len(bins)):
                    if len(counts[d]) > 1:
                        score += counts[d][bins[d][self.rows[cand, d]]]
                batch.append(int(cand[int(np.argmin(score))]))
                drawn.append(batch[-1])
                take(batch[-1])
            self._measure(*batch)

    # ---------------------------------------------------------- model search

    def _warp(self, cost, low, scale):
        gap = (cost - low) / scale
        if gap >= 0:
            return math.log(self.warp + gap)
        return math.log(self.warp) + max(gap / self.warp, -2.0)

    def _training_set(self, cap, share):
        good = sorted(self.good, key=self.costs.get)
        if len(good) + len(self.failed) <= cap:
            return good, list(self.failed)
        head = min(len(good), int(cap * share))
        rest = good[head:] + self.failed
        picked = random.sample(rest, min(len(rest), cap - head))
        good_set = set(good)
        chosen = good[:head] + [i for i in picked if i in good_set]
        return chosen, [i for i in picked if i not in good_set]

    def _niches(self, limit):
        centres = []
        for i in sorted(self.good, key=self.costs.get)[:80]:
            row = self.rows[i]
            if all(int((row != self.rows[c]).sum()) >= 2 for c in centres):
                centres.append(i)
                if len(centres) >= limit:
                    break
        return centres

    def _mutants(self, centres, amount):
        values = self.space.params_values
        free = [d for d in range(len(values)) if len(values[d]) > 1]
        found = []
        if not free:
            return found
        for _ in range(amount):
            base = list(self.configs[centres[int(len(centres) * random.random() ** 2)]])
            for d in random.sample(free, min(len(free), random.choice((2, 2, 3)))):
                base[d] = random.choice(values[d])
            config = tuple(base)
            if self.space.is_param_config_valid(config):
                position = self.space.get_param_config_index(config)
                if position is not None and not self.seen[position]:
                    found.append(int(position))
        return found

    def _pool(self, centres, carry, size):
        free = np.flatnonzero(~self.seen)
        local = {}
        for rank, c in enumerate(centres):
            near = self._neighbors(c)
            cap = 150 if rank == 0 else 60
            local[c] = near if len(near) <= cap else random.sample(near, cap)
        if len(free) <= size:
            return free, local
        parts = [np.array(near, dtype=np.int64) for near in local.values() if near]
        extra = self._most_promising(300 if self.slope else 0) + self._mutants(centres, 200) + [i for i in carry if not self.seen[i]]
        if extra:
            parts.append(np.array(extra, dtype=np.int64))
        used = sum(len(p) for p in parts)
        parts.append(free[np.random.randint(0, len(free), size=max(size - used, size // 2))])
        return np.unique(np.concatenate(parts)), local

    def _model_search(self):
        from scipy.linalg import cholesky, solve_triangular
        from scipy.special import ndtr

        f = len(self.encode.log_extra)
        group, near = self.encode.group, self.encode.near
        prior_mean = np.append(
            math.log(self.length_prior * math.sqrt(self.encode.base)) + self.encode.log_extra,
            [math.log(3e-3), math.log(self.main_effects)],
        )
        prior_sd = np.append(np.full(f, 1.2), [1.5, 1.5])
        theta = prior_mean.copy()
        next_fit = 0
        carry = []

        while self._running():
            n = len(self.costs)

            # warped targets
            y = np.array([self.costs[i] for i in self.good])
            low = float(y.min())
            scale = float(np.median(y)) - low
            if not scale > 0:
                scale = float(y.max()) - low
            if not scale > 0:
                scale = 1.0
            warped = {i: self._warp(self.costs[i], low, scale) for i in self.good}
            bad_value = float(np.quantile(np.array(list(warped.values())), 0.9))

            if n >= next_fit:
                ok, bad = self._training_set(200, 0.4)
                z = np.array([warped[i] for i in ok] + [bad_value] * len(bad))
                dev = float(z.std())
                if dev > 1e-12:
                    z = (z - z.mean()) / dev
                    self._weigh_prior(ok + bad, z)
                    x = self._features(np.array(ok + bad, dtype=np.int64))
                    theta = _fit_hyper(x, group, near, z, [theta, prior_mean], prior_mean, prior_sd, 20)
                next_fit = int(math.ceil(n * 1.25)) + 1

            # posterior over the pool of this round
            ok, bad = self._training_set(max(20, int(self.train_cap)), 0.6)
            z = np.array([warped[i] for i in ok] + [bad_value] * len(bad))
            centre = float(z.mean())
            dev = float(z.std())
            if not dev > 1e-12:
                dev = 1.0
            z = (z - centre) / dev
            length, nug, eta = np.exp(theta[:f])[group], math.exp(theta[f]), math.exp(theta[f + 1])
            a = self._features(np.array(ok + bad, dtype=np.int64)) / length
            m = len(z)
            size = int(min(6000, max(800, 300000 // m)))
            centres = self._niches(6)
            pool, local = self._pool(centres, carry, size)
            if len(pool) == 0:
                return
            k = _kernel(a, a, eta, near)
            k[np.arange(m), np.arange(m)] = 1.0 + eta * (a * a).sum(1) + nug
            try:
                chol = cholesky(k, lower=True, check_finite=False)
            except np.linalg.LinAlgError:
                theta = prior_mean.copy()
                theta[f] = math.log(0.05)
                next_fit = n + 10
                self._measure(random.choice(list(pool)))
                continue
            b = self._features(pool) / length
            batches = -(-min(1 + n // 15, 16) // self.workers)
            steps = int(min(batches * self.workers, len(pool)))
            v = np.empty((m + steps, len(pool)))
            v[:m] = solve_triangular(chol, _kernel(a, b, eta, near), lower=True, check_finite=False)
            w = solve_triangular(chol, z, lower=True, check_finite=False)
            mu = w @ v[:m]
            var = 1.0 + eta * (b * b).sum(1) - (v[:m] ** 2).sum(0)
            s2 = (float(w @ w) + 1.0) / m
            alive = np.ones(len(pool), dtype=bool)
            masks = [np.isin(pool, np.array(local[c], dtype=np.int64)) for c in centres if local[c]]
            favourites = np.searchsorted(pool, self._most_promising(300 if self.slope else 0))  # all are in the pool
            z_best = float(z.min())
            acquisition = None
            batch = []  # picks to be measured side by side; each sees the certainty that the earlier will bring

            for _ in range(steps):
                if not self._running():
                    return
                patience = self._patience()
                inflate = 1.0 + self.inflation * math.log1p(self.stagnation / patience)
                sd = np.sqrt(np.maximum(s2 * var, 1e-10)) * inflate
                u = (z_best - mu) / sd
                ei = sd * (u * ndtr(u) + np.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi))
                acquisition = np.where(alive, np.maximum(ei, 0.0) - 1e-14 * (mu - sd), -np.inf)
                j = int(np.argmax(acquisition))
                favourites = favourites[alive[favourites]]
                if len(favourites) and random.random() < 5.0 / (20.0 + n):  # the prior's own choice, ever more rarely
                    j = int(favourites[0])
                elif random.random() < self.local_share:
                    open_masks = [mask & alive for mask in masks]
                    open_masks = [mask for mask in open_masks if mask.any()]
                    if open_masks:
                        stay = max(0.1, 0.6 / (1.0 + self.stagnation / patience))
                        pick = 0
                        while pick < len(open_masks) - 1 and random.random() > stay:
                            pick += 1
                        j = int(np.argmin(np.where(open_masks[pick], mu - 0.5 * sd, np.inf)))

                alive[j] = False
                cov = _kernel(b[j:j + 1], b, eta, near)[0] - v[:m, j] @ v[:m]
                spread = math.sqrt(max(float(var[j]), 0.0) + nug)
                row = cov / spread
                var = var - row * row
                v[m] = row
                m += 1
                batch.append((j, row, spread))
                if len(batch) < self.workers and alive.any():
                    continue
                before = self.best_cost
                costs = self._measure(*(pool[j] for j, _, _ in batch))
                if min(costs) < before or not alive.any():
                    break
                for (j, row, spread), cost in zip(batch, costs):
                    target = self._warp(cost, low, scale) if cost < 1e300 else bad_value
                    target = (target - centre) / dev
                    mu = mu + row * ((target - float(mu[j])) / spread)
                batch = []

            if acquisition is not None:
                top = np.argsort(-acquisition)[:60]
                carry = [int(pool[t]) for t in top if alive[t]]


_options = {
    "n_initial": ("n initial", 10),
    "local_share": ("local share", 0.2),
    "warp": ("warp", 0.1),
    "length_prior": ("length prior", 0.5),
    "inflation": ("inflation", 0.3),
    "train_cap": ("train cap", 400),
    "identity_prior": ("identity prior", 1.0),
    "main_effects": ("main effects", 1.0),
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


_accept_x0(MyOptimizer)


def tune(searchspace, runner, tuning_options):
    given = tuning_options.strategy_options
    given = {key: value for key, value in given.items() if key != "prior"}
    values = common.get_options(given, _options)
    hyperparameters = dict(zip(_options, values, strict=True))
    optimizer = MyOptimizer(**hyperparameters)
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
