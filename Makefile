# make train    train a policy on 6x6, four in a row, and draw its learning curve; settings: ARGS="--seed 2"
# make test     style, types and every test
# make bench    how fast it is here, on one thread; against PyTorch too, once .venv/bin/pip install torch has been done
# Each makes .venv and installs this program into it, the first time and whenever setup.cfg changes.

PYTHON ?= python3
ARGS ?=
BIN := .venv/bin
# compat: a plain path file, so that a folder named `env` where you happen to stand cannot shadow the package.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --config-settings editable_mode=compat

.PHONY: train test bench lint clean

train: .venv/installed
	$(BIN)/gomoku train $(if $(findstring --resume,$(ARGS)),,--preset quick) $(ARGS)

test: lint
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest $(ARGS)

bench: .venv/installed
	$(BIN)/gomoku bench $(ARGS)

lint: .venv/installed-for-tests
	$(BIN)/ruff check .
	$(BIN)/mypy

clean:
	rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find nn env rl experiments tests -name __pycache__ -prune -exec rm -rf {} +

.venv/installed: setup.cfg pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "this program needs Python 3.11 or newer as $(PYTHON); name another one: make PYTHON=python3.12" >&2; exit 1; }
	@echo "installing into .venv (once; a minute or so)"
	@$(PYTHON) -m venv .venv
	@$(INSTALL) --editable .
	@touch $@

.venv/installed-for-tests: .venv/installed
	@$(INSTALL) --editable '.[test]'
	@touch $@
