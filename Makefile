# Two commands are all a fresh machine needs (python3, pip and make):
#   make study   set up what a study needs, then the quick-start study
#   make test    set up what the tests need as well, then the tests
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
INSTALL = $(BIN)/python -m pip install --quiet --no-compile  # a module is compiled when it is first imported: few ever are

unexport PYTHONDONTWRITEBYTECODE  # images for containers set it, and each of hundreds of processes would compile all Python anew

.PHONY: setup study kernels test oldest next check lint types imports docs soak bench mutate release audit clean

$(VENV)/.study: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(INSTALL) --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.study
	$(INSTALL) --editable '.[test,dask,postgresql]'
	@touch $@

$(VENV)/.dev: $(VENV)/.test
	$(INSTALL) --editable '.[test,dev,dask,postgresql]'
	@touch $@

setup: $(VENV)/.test

study: $(VENV)/.study
	$(BIN)/modelsel run

kernels: setup  # by a process per core; the tests' workers would wait for each other
	$(BIN)/python -c 'from modelsel.api.commands.setup import compile_kernels; dict(compile_kernels())'

test: kernels
	$(BIN)/python -m pytest -n auto -m 'not slow and not soak'

oldest:
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --constraint .ci/oldest.txt --editable '.[test,dask,postgresql]'
	.venv-oldest/bin/python -m pytest -n auto -m 'not slow and not soak'

next:  # with the pre-releases of Hydra and OmegaConf
	$(PYTHON) -m venv .venv-next
	.venv-next/bin/python -m pip install --quiet --editable '.[test,dask,postgresql]'
	.venv-next/bin/python -m pip install --quiet --pre --upgrade 'hydra-core>=1.4.0rc1' 'omegaconf>=2.4.0rc1'
	.venv-next/bin/python -m pytest -n auto -m 'not slow and not soak'

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

$(VENV)/.docs: $(VENV)/.test
	$(INSTALL) --editable '.[docs]'
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

release: $(VENV)/.dev
	$(BIN)/python .ci/release.py

audit: $(VENV)/.dev  # asks an advisory service about each installed package
	$(INSTALL) pip-audit
	$(BIN)/pip-audit --skip-editable

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache build dist
