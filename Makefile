# make run: set up what is missing and open the window (ARGS="listen --input demo" runs a command).
# make docs: write docs/messages.md anew from the code.
# make test: set up and run every check and test, without a display.

PYTHON ?= python3
ARGS ?=
TESTS ?= tests
BIN = .venv/bin

.DEFAULT_GOAL = run
.PHONY: run test lint docs setup setup-test clean

run: setup
	@exec $(BIN)/vivavoce $(ARGS)

test: setup-test lint
	$(BIN)/python -m pytest $(TESTS)

lint: setup-test
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy

docs: setup
	$(BIN)/python packaging/list_messages.py

setup:
	@PYTHON=$(PYTHON) packaging/bootstrap.sh run

setup-test:
	@PYTHON=$(PYTHON) packaging/bootstrap.sh test

clean:
	rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find app engine tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
