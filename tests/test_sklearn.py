import pickle

import numpy as np
import polars as pl
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed; it comes with the extra sklearn")

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from shoal import InputError
from shoal.sklearn import Microaggregator, Recoder


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


def test_recoded_records_are_shared_by_at_least_k():
    rng = np.random.default_rng(0)
    table = np.stack(
        [rng.integers(20, 70, 80).astype(object), rng.choice(["f", "m"], 80).astype(object)], axis=1
    )
    for method in ("lattice", "local-suppression", "local"):
        released = Recoder(k=4, method=method, hierarchies={0: "intervals(5,10,20)"}).fit_transform(table)
        assert released.shape == table.shape
        _, sizes = np.unique(released.astype(str), axis=0, return_counts=True)
        assert sizes.min() >= 4


def test_other_records_get_the_levels_that_were_found():
    ages = [[31], [38], [44], [47]]
    model = Recoder(k=2, hierarchies={0: "intervals(10)"}).fit(ages)
    assert model.levels_ == (1,)
    assert model.transform([[59], [31]]).ravel().tolist() == ["50-59", "30-39"]
    assert pickle.loads(pickle.dumps(model)).transform([[59]]).ravel().tolist() == ["50-59"]
    with pytest.raises(InputError, match="lattice"):
        Recoder(k=2, method="local").fit([[1], [2], [5], [5], [9], [9]]).transform([[1]])


def test_a_recoder_knows_columns_by_name():
    frame = pl.DataFrame({"age": [31, 38, 44, 47], "sex": ["f", "f", "m", "m"]})
    model = Recoder(k=2, hierarchies={"age": "intervals(10)"}).fit(frame.to_pandas())
    assert model.levels_ == (1, 0)
    with pytest.raises(InputError, match="no such column"):
        Recoder(k=2, hierarchies={"agee": "star"}).fit(frame.to_pandas())
