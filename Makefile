# Everything a newcomer needs:  make demo   and   make test.
# The second run of each is quick: the environment is rebuilt only when pyproject.toml changes.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# One more than the cores of a small machine: who waits for a browser, a server or a process leaves a core to others.
WORKERS ?= 3
# Tests start hundreds of processes: each would compile the package anew where this is set.
export PYTHONDONTWRITEBYTECODE :=
# The tests of a group share a server or a browser, and the longest groups come first, as tests/conftest.py puts them;
# a worker that dies is not replaced, since its group would be waited for.
SPREAD  := -n $(WORKERS) --dist loadgroup --no-loadscope-reorder --max-worker-restart 0

.PHONY: demo test test-long fuzz lint format docs release bench bench-peers warm-up clean help

help:
	@echo "make demo       install Shoal into .venv and show the two-minute tour"
	@echo "make test       install all that tests need and run the suite"
	@echo "make test-long  the suite plus thousands of random instances"
	@echo "make fuzz       10,000 runs of the command line with broken files and wrong options; RUNS, SEED, SECONDS"
	@echo "make lint       Ruff (format and lint), mypy and the rules of who may import whom"
	@echo "make docs       build the manual into site/"
	@echo "make release    build the wheel and the source archive into dist/, and try the wheel in a new environment"
	@echo "make bench      benchmarks, as ratios and counts"
	@echo "make bench-peers  the same tables by pytauargus, in an environment of its own"

demo: $(VENV)/.warm
	@$(BIN)/shoal demo

test: $(VENV)/.dev-warm $(VENV)/.system
	$(BIN)/python -m pytest $(SPREAD) -m "not long"

test-long: $(VENV)/.dev-warm $(VENV)/.system
	$(BIN)/python -m pytest $(SPREAD) -o faulthandler_timeout=14400

RUNS ?= 10000
SEED ?= 0
fuzz: $(VENV)/.dev-warm
	$(BIN)/python -m tests.fuzz --runs $(RUNS) --seed $(SEED) --workers $(WORKERS) $(if $(SECONDS),--seconds $(SECONDS))

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --config pyproject.toml

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

release: $(VENV)/.dev
	$(BIN)/python tools/release.py

bench: $(VENV)/.dev-warm
	$(BIN)/python -m bench

# The peer gets an environment of its own; where it cannot be had, the benchmark says so and ends well.
bench-peers: $(VENV)/.dev-warm
	@test -x .venv-peers/bin/python || $(PYTHON) -m venv .venv-peers
	@.venv-peers/bin/python -m pip install --quiet pytauargus || echo "pytauargus cannot be installed here"
	SHOAL_PEERS_PYTHON=$(CURDIR)/.venv-peers/bin/python $(BIN)/python -m bench peers_tables

warm-up: $(VENV)/.warm

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

# A plain install for the tour, the developer's extras for the rest; each stamp remembers what was installed.
$(VENV)/.plain: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	@touch $@ $(VENV)/.plain

# Compiled kernels are cached on disk; compiling them here keeps the first real run quick.
KERNELS := $(shell find src/shoal -name '*.py')
$(VENV)/.warm: $(KERNELS) | $(VENV)/.plain
	@$(BIN)/python -m shoal.runtime.warm_up
	@touch $@

$(VENV)/.dev-warm: $(KERNELS) | $(VENV)/.dev
	@$(BIN)/python -m shoal.runtime.warm_up
	@touch $@ $(VENV)/.warm

# Servers and browsers for the tests; on Debian as root they are installed, elsewhere their tests skip.
$(VENV)/.system: tools/system-packages.sh | $(VENV)/bin/python
	@sh tools/system-packages.sh
	@touch $@

clean:
	rm -rf $(VENV) .venv-peers site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
