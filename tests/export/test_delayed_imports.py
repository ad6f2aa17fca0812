"""Heavy imports move into the functions that use them, where that changes nothing."""

import pytest

from llamea_tune.exporting.imports import delay_heavy_imports as delayed


def test_moves_to_every_function_that_uses_it():
    code = '''import math

import scipy.stats
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor as Forest

import numpy as np


class A:
    def one(self):
        """Do one."""
        # the model
        return Forest(), np.zeros(1)

    def two(self):
        return [scipy.stats.norm.sf(x) for x in range(3)], ExtraTreesRegressor()

    def three(self):
        return 3


def four():
    import random

    def inner():
        return scipy.stats.norm

    return inner, random
'''
    assert (
        delayed(code)
        == '''import math


import numpy as np


class A:
    def one(self):
        """Do one."""
        from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor as Forest

        # the model
        return Forest(), np.zeros(1)

    def two(self):
        import scipy.stats
        from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor as Forest

        return [scipy.stats.norm.sf(x) for x in range(3)], ExtraTreesRegressor()

    def three(self):
        return 3


def four():
    import scipy.stats
    import random

    def inner():
        return scipy.stats.norm

    return inner, random
'''
    )


KEPT = {
    "base class": "from scipy.stats import rv_continuous\n\n\nclass A(rv_continuous):\n    pass\n",
    "decorator": "from scipy import special\n\n\n@special\ndef f():\n    return special\n",
    "default": "from scipy import special\n\n\ndef f(a=special):\n    return a\n",
    "annotation": "from scipy import special\n\n\ndef f(a: special):\n    return special\n",
    "class body": "from scipy import special\n\n\nclass A:\n    x = special\n",
    "module level": "import scipy.stats\n\nNORM = scipy.stats.norm\n",
    "local of the same name": "from scipy import special\n\n\ndef f(special):\n    return special\n",
    "other import of the same name": "from scipy import special\n\n\ndef f():\n    import special\n\n    return special\n",
    "guarded": "try:\n    import sklearn\nexcept ImportError:\n    sklearn = None\n\n\ndef f():\n    return sklearn\n",
    "two statements in a line": "import scipy; import math\n\n\ndef f():\n    return scipy, math\n",
    "one-line function": "from scipy import special\n\n\ndef f(): return special\n",
    "with a light package": "import math, scipy\n\n\ndef f():\n    return scipy, math\n",
}


@pytest.mark.parametrize("code", KEPT.values(), ids=KEPT)
def test_stays_where_it_is_needed_at_once(code):
    assert delayed(code) == code


def test_unused_import_goes():
    assert delayed("import math\nimport sklearn\n\nX = math.pi\n") == "import math\n\nX = math.pi\n"


def test_an_import_over_several_lines():
    code = "from scipy.stats import (\n    norm,\n    t,\n)  # tails\n\n\ndef f():\n    return norm, t\n"
    assert delayed(code) == "\n\ndef f():\n    from scipy.stats import norm, t\n\n    return norm, t\n"
