"""Secrets and the random numbers they give, against SipHash step by step and against chance."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.runtime.siphash import siphash

import shoal
from shoal.runtime import secret_kernels as kernels
from shoal.runtime.secrets import Secret

words = st.integers(0, 2**64 - 1)


def test_the_authors_vectors():
    # The paper's example has 15 bytes; that of 16 is in the authors' list. Key and message are 0, 1, 2, …
    key = bytes(range(16))
    assert siphash(key, bytes(range(15))) == 0xA129CA6149BE45E5
    assert siphash(key, bytes(range(16))) == 0x3F2ACC7F57C29BDB


@given(words, words, words, words)
def test_bits(k0, k1, who, count):
    key = np.array([k0, k1], dtype=np.uint64)
    message = who.to_bytes(8, "little") + count.to_bytes(8, "little")
    expected = siphash(k0.to_bytes(8, "little") + k1.to_bytes(8, "little"), message)
    assert int(kernels.bits(key, np.uint64(who), np.uint64(count))) == expected


@given(words, st.integers(0, 2**62), st.integers(1, 2**40))
def test_numbers_of_bits(who, count, n):
    key = np.array([3, 5], dtype=np.uint64)
    one, many = np.uint64(who), np.array([who], dtype=np.uint64)

    def slow(at):
        return (int(kernels.bits(key, one, np.uint64(at))) >> 11) / 2**53

    assert kernels.uniform(key, one, np.uint64(count)) == slow(count) == kernels.uniforms(key, many, count)[0]
    assert kernels.below(key, one, np.uint64(count), n) == int(slow(count) * n) < n
    radius = math.sqrt(-2 * math.log(1 - slow(2 * count)))
    expected = radius * math.cos(2 * math.pi * slow(2 * count + 1))
    assert kernels.normal(key, one, np.uint64(count)) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert kernels.normals(key, many, count)[0] == kernels.normal(key, one, np.uint64(count))
    assert kernels.chained(key, many, np.array([count], dtype=np.uint64))[0] == kernels.bits(
        key, one, np.uint64(count)
    )


def test_chance():
    who = np.arange(200_000, dtype=np.uint64)
    draws = Secret.of_seed(1).draws("test")
    uniform, normal = draws.uniforms(who), draws.normals(who)
    assert stats.kstest(uniform, "uniform").pvalue > 1e-4
    assert stats.kstest(normal, "norm").pvalue > 1e-4
    assert abs(np.corrcoef(uniform[:-1], uniform[1:])[0, 1]) < 0.01
    assert abs(np.corrcoef(uniform, draws.uniforms(who, 1))[0, 1]) < 0.01


def test_a_number_depends_on_whom_it_is_for_and_not_on_the_order():
    who = np.arange(100, dtype=np.uint64)
    draws = Secret.of_seed(1).draws("test", 2)
    assert np.array_equal(draws.uniforms(who)[::-1], draws.uniforms(who[::-1].copy()))


def test_places_have_keys_of_their_own():
    secret = Secret.of_seed(0)
    places = [(), ("a",), ("b",), ("a", 1), ("a", "1"), ("a", 1, 2), ("a1",)]
    assert len({secret.draws(*place).key.tobytes() for place in places}) == len(places)


def test_secrets_differ_and_can_be_kept(tmp_path):
    secret = Secret.new()
    path = tmp_path / "secret.txt"
    path.write_text(secret.text())
    assert Secret.read(path) == secret != Secret.new()
    assert "internal" in secret.text()
    assert not secret.of_study


def test_nothing_shows_what_a_secret_is():
    secret = Secret.new()
    shown = repr(secret) + repr(secret.draws("a"))
    assert secret.content.hex() not in shown
    assert str(int(secret.draws("a").key[0])) not in shown


@pytest.mark.parametrize(
    "content",
    [b"", b"shoal secret ", b"shoal secret 00ff", b"shoal secret " + b"zz" * 16, b"00" * 16, b"\xff"],
)
def test_what_is_no_secret_is_refused_unseen(tmp_path, content):
    path = tmp_path / "key"
    path.write_bytes(content)
    with pytest.raises(shoal.InputError, match=r"cannot be read|is no secret") as problem:
        Secret.read(path)
    assert "00ff" not in str(problem.value)


def test_a_secret_that_is_not_there(tmp_path):
    with pytest.raises(shoal.InputError, match="the secret 'nothing' is not there"):
        Secret.read(tmp_path / "nothing")
