# Two commands for a newcomer: `make demo` and `make test`. Both make the environment they need.

SHELL := /bin/bash
PY := .venv/bin/python
# On two cores: a third process would take the time in which the others wait for a disk or another
# process, but the caches of the processor hold less for each (docs/explanation/testing.md).
WORKERS ?= 2
TESTS ?=
MUTANTS ?=

export TF_CPP_MIN_LOG_LEVEL ?= 3

# Each of the workers would compile the library and its tests again.
unexport PYTHONDONTWRITEBYTECODE

# Few arenas: a test worker has many threads, and freed memory goes back to the system.
export MALLOC_ARENA_MAX ?= 2

.DEFAULT_GOAL := help
.PHONY: help environment environment-dev demo demo-long demo-masque test coverage slow fuzz attacks mutants lint format docs package tables lock audit clean

help:
	@echo "make demo         the ready models answer and ask; a reader is fine-tuned, scored, served"
	@echo "make demo-long    readers trained on the shipped part of SQuAD, with and without an encoder"
	@echo "make demo-masque  train Masque on a made-up corpus, score it, export it, answer in two styles"
	@echo "make test         lint, then all tests but the slow ones (WORKERS=2; TESTS=tests/ops: a part)"
	@echo "make coverage     the tests again, with the share of lines and branches that they run"
	@echo "make slow         the slow tests: demos, documents, JAX, a browser, second environments"
	@echo "make fuzz         10,000 mutated files"
	@echo "make attacks      kills, full disks, threads"
	@echo "make mutants      whether the tests notice a changed line of ops, losses, decoding (an hour)"
	@echo "make lint         ruff, mypy and the arrows between the rooms"
	@echo "make format       format the code with ruff"
	@echo "make docs         build the site: docs/_build/html"
	@echo "make package      build wheel and source distribution, and check them: dist"
	@echo "make tables       write the tables of results"
	@echo "make lock         renew requirements*.lock after a change in setup.py"
	@echo "make audit        known vulnerabilities of the locked versions, licences of what is installed"
	@echo "make clean        remove the environment and the caches (keeps runs/ and savedmodels/)"

environment:
	@tools/environment.sh requirements.lock

environment-dev:
	@tools/environment.sh requirements-dev.lock

demo: environment
	$(PY) -m recipes.demo.main

demo-long: environment
	$(PY) -m tfmrc.cli train squad_demo/long
	$(PY) -m tfmrc.cli train squad_demo/without_encoder
	$(PY) -m tfmrc.cli evaluate runs/squad_demo_long
	$(PY) -m tfmrc.cli evaluate runs/squad_demo_without_encoder

demo-masque: environment
	$(PY) -m tfmrc.cli train masque_demo
	$(PY) -m tfmrc.cli evaluate runs/masque_demo
	$(PY) -m tfmrc.cli export runs/masque_demo --to savedmodels/masque/1 --overwrite
	$(PY) recipes/masque_demo/ask.py savedmodels/masque/1 recipes/masque_demo/questions.jsonl concise sentence

# The linters run beside the tests.
TESTING := pytest -p tests.forked --forks $(WORKERS) -p tests.own_stack
PYTEST := $(PY) -m $(TESTING)

test: environment-dev
ifneq ($(TESTS),)
	$(PYTEST) $(TESTS)
else
	@failed=0; said=$$(mktemp); \
	$(MAKE) --no-print-directory lint > "$$said" 2>&1 & linting=$$!; \
	$(PYTEST) || failed=1; \
	wait $$linting || failed=1; \
	cat "$$said"; rm -f "$$said"; \
	exit $$failed
endif

coverage: environment-dev
	rm -rf .coverage && mkdir .coverage
	$(PY) -m coverage run -m $(TESTING)
	$(PY) -m coverage combine -q
	$(PY) -m coverage report --fail-under=90
	for room in ops losses layers decoding text data; do \
	    printf "%s, percent: " $$room; \
	    $(PY) -m coverage report --include="tfmrc/$$room/*" --format=total --fail-under=95 || exit 1; \
	done

slow: environment-dev
	$(PY) -m pytest -m slow --timeout 7200 $(TESTS)

fuzz: environment-dev
	$(PY) -m tests.attacks --only files

attacks: environment-dev
	$(PY) -m tests.attacks

# MUTANTS="--only ops/masking.py --sample 40": a part. Stopped, it goes on with the next call.
mutants: environment-dev
	$(PY) -m venv .venv-mutants
	.venv-mutants/bin/pip install --quiet -r tests/mutants/requirements.txt
	.venv-mutants/bin/python -m tests.mutants --python $(PY) $(MUTANTS)

lint: environment-dev
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports

format: environment-dev
	.venv/bin/ruff check --fix-only .
	.venv/bin/ruff format .

docs: environment-dev
	$(PY) -m pip install -qq --require-hashes --no-deps -r requirements-docs.lock
	$(PY) -m sphinx -qW --keep-going -c docs . docs/_build/html

package:
	python3 -m venv .venv-package
	.venv-package/bin/pip install --quiet build==1.6.1 twine==7.0.0
	rm -rf dist && .venv-package/bin/python -m build
	.venv-package/bin/twine check --strict dist/*

tables: environment-dev
	$(PY) tools/tables.py

lock: environment-dev
	tools/lock.sh

audit: environment
	$(PY) -m venv .venv-audit
	.venv-audit/bin/pip install --quiet pip-audit==2.10.1 pip-licenses==5.5.5
	.venv-audit/bin/pip-licenses --python $(PY) --order license
	.venv-audit/bin/pip-audit --strict --disable-pip --no-deps -r requirements.lock

clean:
	rm -rf .venv .venv-audit .venv-mutants .venv-package .mutants .venv.lock build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage docs/_build docs/reference/api
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
