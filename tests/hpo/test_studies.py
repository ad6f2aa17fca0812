"""Studies: the defaults first, pruning that saves runs, failures as data, the same outcome again."""

import dataclasses
import json
import time

import optuna
import pytest
from kernel_tuner.interface import strategy_map

from llamea_tune.candidate import HyperparameterRange
from llamea_tune.exceptions import MissingDependencyError, RunDirectoryError, SettingsError
from llamea_tune.execution import Limits, LocalExecutor, NamedStrategy
from llamea_tune.hpo import FLOOR, StudySettings, TrialOutcome, importances, make_tunable, tunable_candidate
from llamea_tune.hpo import tune as make_study

SETTINGS = StudySettings(trials=12, repeats=6, limits=Limits(wall_s=20))


@pytest.fixture
def tune(scales):
    def make(tunable, spaces, settings, path, *, jobs=1, **options):
        with LocalExecutor(spaces, jobs=jobs, limits=settings.limits) as executor:
            return make_study(tunable, executor, settings, path, scales=scales[: len(spaces)], **options)

    return make


@pytest.fixture
def climbing(hillclimber):
    return make_tunable(hillclimber)


def test_the_defaults_come_first(tune, climbing, spaces, tmp_path):
    result = tune(climbing, spaces, SETTINGS, tmp_path / "study")
    assert result.trials[0] == result.default
    assert dict(result.default.values) == dict(climbing.defaults)
    assert result.best.value >= result.default.value
    assert len(result.trials) == 12


def test_the_same_settings_give_the_same_study(tune, climbing, spaces, tmp_path):
    first, second = (tune(climbing, spaces, SETTINGS, tmp_path / name) for name in ("a", "b"))
    other = tune(climbing, spaces, dataclasses.replace(SETTINGS, seed=2), tmp_path / "c")
    assert first == second
    assert first.trials != other.trials


def test_several_workers_share_one_study(tune, climbing, spaces, tmp_path):
    events = []
    result = tune(climbing, spaces, SETTINGS, tmp_path / "study", jobs=3, observe=events.append)
    assert sorted(trial.number for trial in result.trials) == list(range(12))
    assert [event.done for event in events] == list(range(1, 13))
    assert result.default is not None


def test_pruning_finds_the_same_winner_with_fewer_runs(tune, spaces, tmp_path):
    tunable = make_tunable(NamedStrategy("genetic_algorithm", "genetic_algorithm"))
    settings = dataclasses.replace(SETTINGS, trials=16, repeats=15, sampler="random")
    pruned = tune(tunable, spaces, settings, tmp_path / "pruned")
    full = tune(tunable, spaces, dataclasses.replace(settings, prune=False), tmp_path / "full")
    assert [trial.values for trial in full.trials] == [trial.values for trial in pruned.trials]
    assert pruned.best.values == full.best.values
    assert pruned.best.value == full.best.value
    assert pruned.count(TrialOutcome.PRUNED) > 0
    assert full.count(TrialOutcome.PRUNED) == 0
    assert pruned.runs < 0.8 * full.runs
    assert pruned.runs_unpruned == full.runs


def test_known_hyperparameters_are_not_run_again(tune, climbing, spaces, tmp_path):
    result = tune(climbing, spaces, dataclasses.replace(SETTINGS, trials=30), tmp_path / "study")
    repeated = [trial for trial in result.trials if trial.outcome is TrialOutcome.REPEATED]
    assert len(result.trials) - len(repeated) <= 8
    assert sum(trial.runs for trial in repeated) == 0
    by_values = {}
    for trial in result.trials:
        assert by_values.setdefault(tuple(trial.values.items()), trial.value) == trial.value


def test_hyperparameters_that_make_it_fail_are_data(tune, walker, spaces, tmp_path):
    tunable = tunable_candidate(walker, {"patience": HyperparameterRange("int", 1, 24)})
    result = tune(tunable, spaces, dataclasses.replace(SETTINGS, trials=10, repeats=3), tmp_path / "study")
    failed = [trial for trial in result.trials if trial.outcome is TrialOutcome.FAILED]
    assert failed
    for trial in failed:
        assert trial.values["patience"] > 12
        assert "out of patience" in trial.reason
        assert (trial.value, trial.runs) == (FLOOR, 1)
    assert all(trial.values["patience"] <= 12 for trial in result.trials if trial not in failed)
    assert result.best not in failed
    assert set(importances(tunable, result.trials)) <= set(tunable.ranges)


def test_a_study_in_which_all_fails_has_no_winner(tune, walker, spaces, tmp_path):
    hopeless = dataclasses.replace(walker, hyperparameters={"patience": 20})
    result = tune(tunable_candidate(hopeless), spaces, dataclasses.replace(SETTINGS, trials=3), tmp_path / "s")
    assert result.best is None
    assert result.default.outcome is TrialOutcome.FAILED


def test_more_trials_go_on_from_those_that_are_there(tune, climbing, spaces, tmp_path):
    few = tune(climbing, spaces, dataclasses.replace(SETTINGS, trials=5), tmp_path / "study")
    more = tune(climbing, spaces, SETTINGS, tmp_path / "study")
    assert more.trials[:5] == few.trials
    assert more == tune(climbing, spaces, SETTINGS, tmp_path / "at once")
    again = []
    assert tune(climbing, spaces, SETTINGS, tmp_path / "study", observe=again.append) == more
    assert again == []


def test_another_study_is_not_mixed_up_with_this_one(tune, climbing, spaces, tmp_path):
    tune(climbing, spaces, dataclasses.replace(SETTINGS, trials=2), tmp_path / "study")
    with pytest.raises(RunDirectoryError, match=r"other settings \(seed\)"):
        tune(climbing, spaces, dataclasses.replace(SETTINGS, seed=5), tmp_path / "study")
    with pytest.raises(RunDirectoryError, match=r"other settings \(spaces\)"):
        tune(climbing, spaces[:1], SETTINGS, tmp_path / "study")


def test_optuna_reads_the_journal_by_itself(tune, climbing, spaces, tmp_path):
    result = tune(climbing, spaces, SETTINGS, tmp_path / "study")
    backend = optuna.storages.journal.JournalFileBackend(str(tmp_path / "study" / "journal.log"))
    study = optuna.load_study(study_name=None, storage=optuna.storages.JournalStorage(backend))
    assert [trial.value for trial in study.trials] == [trial.value for trial in result.trials]
    assert study.best_value == result.best.value
    assert json.loads((tmp_path / "study" / "study.json").read_text())["sampler"] == "tpe"


def test_importances_name_what_matters(tune, spaces, walker, tmp_path):
    tunable = tunable_candidate(walker, {"patience": HyperparameterRange("int", 1, 6)})
    settings = dataclasses.replace(SETTINGS, trials=14, repeats=3, sampler="random", prune=False)
    result = tune(tunable, spaces, settings, tmp_path / "study", jobs=2)
    shares = importances(tunable, result.trials)
    assert sum(shares.values()) == pytest.approx(1.0)
    assert set(shares) == {"jump", "patience", "greedy"}
    assert importances(tunable, result.trials[:3]) == {}


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [("trials", 0, "^trials is 0"), ("repeats", -1, "^repeats is -1"), ("sampler", "best", "choose one of: tpe")],
)
def test_settings_that_make_no_sense_are_refused(field, value, message):
    with pytest.raises(SettingsError, match=message):
        StudySettings(**{field: value})


@pytest.mark.parametrize("sampler", ["cmaes", "gp"])
def test_a_sampler_whose_package_is_missing_says_so(tune, sampler, climbing, spaces, tmp_path, monkeypatch):
    monkeypatch.setattr("llamea_tune.hpo.samplers.find_spec", lambda _name: None)
    with pytest.raises(MissingDependencyError, match="pip install"):
        tune(climbing, spaces, dataclasses.replace(SETTINGS, sampler=sampler), tmp_path / "study")


def test_a_named_strategy_that_takes_too_long_is_a_failed_trial(tune, spaces, tmp_path, monkeypatch):
    class Napping:
        def __init__(self):
            self._options = {"nap": ("seconds to wait", 0.0)}

        def tune(self, searchspace, runner, tuning_options):
            runner.run(searchspace.list[:3], tuning_options)
            time.sleep(60.0 if tuning_options.strategy_options.get("nap", 0.0) > 0.5 else 0.0)

    monkeypatch.setitem(strategy_map, "napping", Napping())
    declared = {"nap": HyperparameterRange("float", 0.0, 1.0)}
    tunable = make_tunable(NamedStrategy("napping", "napping"), declared)
    settings = dataclasses.replace(SETTINGS, trials=6, limits=Limits(named_s=1.0), sampler="random")
    for _ in ("new", "continued"):
        result = tune(tunable, spaces, settings, tmp_path / "study", jobs=2)
        failed = {trial.number: trial for trial in result.trials if trial.outcome is TrialOutcome.FAILED}
        assert {number for number, trial in failed.items() if trial.values["nap"] > 0.5} == set(failed) != set()
        assert {(trial.reason, trial.value) for trial in failed.values()} == {("ran longer than 1 s", FLOOR)}
        assert len(result.trials) == 6
