# Two commands are all a fresh machine needs (python3, pip and make):
#   make study   set up, then the quick-start study
#   make test    set up, then the tests
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

unexport PYTHONDONTWRITEBYTECODE  # images for containers set it, and each of hundreds of processes would compile all Python anew

.PHONY: setup study kernels test oldest check lint types imports docs soak bench mutate clean

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[test,dask,postgresql]'
	@touch $@

$(VENV)/.dev: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --editable '.[test,dev,dask,postgresql]'
	@touch $@

study: setup
	$(BIN)/modelsel run

kernels: setup  # by a process per core; the tests' workers would wait for each other
	$(BIN)/python -c 'from modelsel.api.commands.setup import compile_kernels; dict(compile_kernels())'

test: kernels
	$(BIN)/python -m pytest -n auto -m 'not slow and not soak'

oldest:
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --constraint .ci/oldest.txt --editable '.[test,dask,postgresql]'
	.venv-oldest/bin/python -m pytest -n auto -m 'not slow and not soak'

check: $(VENV)/.dev kernels lint types imports
	$(BIN)/python -m pytest -n auto -m 'not soak'

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m pytest -n 0 tests/architecture/test_numpydoc.py

types: $(VENV)/.dev
	$(BIN)/mypy

imports: $(VENV)/.dev
	$(BIN)/lint-imports

$(VENV)/.docs: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	@touch $@

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html -d build/doctrees docs build/site
	@echo build/site/index.html

soak: setup
	$(BIN)/python -m pytest -m soak --timeout 3600

mutate: setup
	PYTHONPATH=tests $(BIN)/python -m mutation

bench: setup
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache build dist
