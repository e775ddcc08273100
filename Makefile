# Two commands for a newcomer: `make demo` and `make test`. Both make the environment they need.

SHELL := /bin/bash
PY := .venv/bin/python
WORKERS ?= 2
TESTS ?=

export TF_CPP_MIN_LOG_LEVEL ?= 3

# Few arenas: a test worker has many threads, and freed memory goes back to the system.
export MALLOC_ARENA_MAX ?= 2

.DEFAULT_GOAL := help
.PHONY: help environment environment-dev demo demo-masque test slow lint format equations lock clean

help:
	@echo "make demo         train a reader on a part of SQuAD, score it, export it, answer questions"
	@echo "make demo-masque  train Masque on a made-up corpus, score it, export it, answer in two styles"
	@echo "make test         lint, then all tests but the slow ones (WORKERS=2; TESTS=tests/ops: a part)"
	@echo "make slow         the slow tests (minutes; one of them makes a second environment)"
	@echo "make lint         ruff, mypy and the arrows between the rooms"
	@echo "make format       format the code with ruff"
	@echo "make equations    write docs/equations.md: every printed equation, its line and its tests"
	@echo "make lock         renew requirements*.lock after a change in setup.py"
	@echo "make clean        remove the environment and the caches (keeps runs/ and savedmodels/)"

environment:
	@tools/environment.sh requirements.lock

environment-dev:
	@tools/environment.sh requirements-dev.lock

demo: environment
	$(PY) -m tfmrc.cli train squad_demo
	$(PY) -m tfmrc.cli train squad_demo/without_encoder
	$(PY) -m tfmrc.cli evaluate runs/squad_demo
	$(PY) -m tfmrc.cli evaluate runs/squad_demo_without_encoder
	$(PY) -m tfmrc.cli export runs/squad_demo --to savedmodels/squad_demo/1 --overwrite
	$(PY) recipes/squad_demo/ask.py savedmodels/squad_demo/1 runs/squad_demo runs/squad_demo_without_encoder

demo-masque: environment
	$(PY) -m tfmrc.cli train masque_demo
	$(PY) -m tfmrc.cli evaluate runs/masque_demo
	$(PY) -m tfmrc.cli export runs/masque_demo --to savedmodels/masque/1 --overwrite
	$(PY) recipes/masque_demo/ask.py savedmodels/masque/1 recipes/masque_demo/questions.jsonl concise sentence

# Three pairs of workers, one after the other: a new worker begins with little memory. The tests
# that train and export come first, since a long file at the end keeps one worker alone.
PYTEST := $(PY) -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder
LONG := tests/experiments tests/recipes tests/test_toy_model.py
LONG_TOO := tests/training tests/predictors tests/serving

test: environment-dev $(if $(TESTS),,lint)
ifneq ($(TESTS),)
	$(PYTEST) $(TESTS)
else
	@failed=0; \
	$(PYTEST) $(LONG) || failed=1; \
	$(PYTEST) $(LONG_TOO) || failed=1; \
	$(PYTEST) $(addprefix --ignore=,$(LONG) $(LONG_TOO)) || failed=1; \
	exit $$failed
endif

slow: environment-dev
	$(PY) -m pytest -m slow --timeout 7200 $(TESTS)

lint: environment-dev
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports

format: environment-dev
	.venv/bin/ruff check --fix-only .
	.venv/bin/ruff format .

equations: environment-dev
	$(PY) -m tests.equations

lock: environment-dev
	tools/lock.sh

clean:
	rm -rf .venv .venv.lock build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
