# Thin on purpose: the logic of set-up is in scripts/setup.sh.
# Variables: PYTHON=/path/to/python3.13, JAVA_HOME=/path/to/jdk, ARGS="-k name" (for test).
.DEFAULT_GOAL := help
.PHONY: help setup demo test heavy rules lint fmt lock clean

BIN := .venv/bin

help: ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: ## make .venv with the locked packages, penstock and its jars (nothing to do: instant)
	@scripts/setup.sh

demo: setup ## run the demo: an embedded broker, a source and a sink
	@$(BIN)/penstock demo

test: setup ## run the tests (ARGS="-k name" is passed on to pytest)
	@$(BIN)/python -m pytest -m "not heavy" $(ARGS)

heavy: setup ## run the tests that take minutes: kills, freezes, outages, 2 GB
	@$(BIN)/python -m pytest -m heavy $(ARGS)

rules: setup ## take each rule of the protocol out and check that its test fails (ARGS="1a 3")
	@$(BIN)/python scripts/check_rules.py $(ARGS)

lint: setup ## check style, formatting, types and which room imports which
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

fmt: setup ## format the code and repair what ruff can repair
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: ## resolve requirements/lock.txt anew from pyproject.toml (needs the network, takes minutes)
	@scripts/lock.sh

clean: ## remove .venv, caches and build outputs (nothing outside this folder)
	rm -rf .venv .setup.log .setup.lock build dist src/*.egg-info
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
