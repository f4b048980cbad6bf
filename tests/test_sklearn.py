import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed; it comes with shoal[sklearn]")

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from shoal import InputError
from shoal.sklearn import Microaggregator


@parametrize_with_checks([Microaggregator(k=2, method="mdav")])
def test_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_a_pipeline_releases_groups_of_at_least_k():
    table = np.random.default_rng(0).normal(size=(60, 3))
    released = make_pipeline(StandardScaler(), Microaggregator(k=4, iterations=50)).fit_transform(table)
    _, sizes = np.unique(released, axis=0, return_counts=True)
    assert sizes.min() >= 4


def test_new_records_get_the_mean_of_the_nearest_group():
    model = Microaggregator(k=2, method="mdav").fit([[0.0], [1.0], [10.0], [12.0]])
    assert model.transform([[2.0], [9.0]]).ravel().tolist() == [0.5, 11.0]
    assert model.transform([[0.0], [1.0], [10.0], [12.0]]).ravel().tolist() == [0.5, 0.5, 11.0, 11.0]


def test_a_saved_transformer_carries_no_record():
    table = np.random.default_rng(0).normal(size=(40, 2))
    model = Microaggregator(k=4, method="mdav").fit(table)
    saved = pickle.dumps(model)
    assert not any(value.tobytes() in saved for value in table.ravel())
    again = pickle.loads(saved)
    assert np.array_equal(again.transform(table), model.fit_transform(table))


def test_all_cores_can_be_asked_for():
    table = np.random.default_rng(0).normal(size=(40, 2))
    one, all_of_them = (
        Microaggregator(k=4, iterations=20, n_jobs=jobs).fit_transform(table) for jobs in (1, -1)
    )
    assert np.array_equal(one, all_of_them)


def test_k_must_fit_the_data():
    with pytest.raises(InputError, match="only 3 records"):
        Microaggregator(k=4).fit([[1.0], [2.0], [3.0]])
    with pytest.raises(InputError, match="at least 2"):
        Microaggregator(k=1).fit([[1.0], [2.0], [3.0]])
