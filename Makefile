# make train    train a policy on 6x6, four in a row, and draw its learning curve; settings: ARGS="--seed 2"
# make train-full   train the policy of the full board, 15x15, imitation and then REINFORCE: half an hour on one core
# make test     style, types and every test
# make bench    how fast it is here, on one thread; against PyTorch too, once .venv/bin/pip install torch has been done
# make tactics  how many of 500 positions with a forced win are solved in 1.8 s each; some minutes, on an idle core
# make ladder   games that say which players beat which, 400 each; an hour or two, on a machine with JOBS (2) idle cores
# make fleet-test   training on a Dask scheduler with two workers here, while they are killed: the same bytes
# make fuzz     100,000 mutated files and lines for everything that reads: no traceback, no hang, nothing half changed
# make kills    a training run killed 200 times ends with the bytes of one that was left alone
# make lab      JupyterLab on the lessons
# make jupyter-test the board in a real JupyterLab, clicked in Chromium without a network; pictures in runs/jupyter
# make memory   an hour of training whose memory and files are watched: the slope, with its interval
# make notebooks   run every lesson in notebooks/ from top to bottom and write its pictures anew
# Each makes .venv and installs this program into it, the first time and whenever setup.cfg changes.

PYTHON ?= python3
ARGS ?=
BIN := .venv/bin
# compat: a plain path file, so that a folder named `env` where you happen to stand cannot shadow the package.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --config-settings editable_mode=compat

.PHONY: train train-full test bench tactics ladder fleet-test fuzz kills memory jupyter-test lab notebooks lint clean

train: .venv/installed
	$(BIN)/gomoku train $(if $(findstring --resume,$(ARGS)),,--preset quick) $(ARGS)

train-full: .venv/installed
	$(BIN)/gomoku train $(if $(findstring --resume,$(ARGS)),,--preset full --set known_wins=tests/data/tactics/wins.json) $(ARGS)

# Many tests start a process of their own, which need not compile every file again, whatever the environment says.
test: lint
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest $(ARGS)

bench: .venv/installed
	$(BIN)/gomoku bench $(ARGS)

tactics: .venv/installed
	$(BIN)/python -m experiments.tactics_report tests/data/tactics/wins.json $(ARGS)

# Each step of the ladder should win. Where the clock decides, more processes than idle cores would falsify it.
JOBS ?= 2
LADDER = $(BIN)/gomoku evaluate $(1) --against $(2) --games 400 --jobs $(JOBS) --seed 1 $(ARGS) \
	--json runs/ladder/$(3).json --save-games runs/ladder/$(3).txt
ladder: .venv/installed
	mkdir -p runs/ladder
	$(call LADDER,threat,greedy,threat_greedy)
	$(call LADDER,alphabeta:time=0.2,threat,alphabeta_threat)
	$(call LADDER,alphabeta:time=1,alphabeta:time=0.1,alphabeta_time)

fuzz: .venv/installed-for-tests
	OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/fuzz.py $(ARGS)

kills: .venv/installed-for-tests
	OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/kills.py $(ARGS)

memory: .venv/installed-for-tests
	OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/memory.py $(ARGS)

fleet-test: .venv/installed-for-tests
	$(INSTALL) --editable '.[dist]'
	$(BIN)/python -m pytest tests/fleet_over_tcp.py $(ARGS)

jupyter-test: .venv/installed-for-tests
	$(INSTALL) --editable '.[notebook,browser]'
	$(BIN)/python -m pytest tests/jupyter_in_browser.py $(ARGS)

lab: .venv/installed
	$(INSTALL) --editable '.[notebook]'
	$(BIN)/jupyter lab $(ARGS) notebooks

notebooks: .venv/installed-for-tests
	$(BIN)/python -m experiments.notebook_files notebooks/*.py

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
