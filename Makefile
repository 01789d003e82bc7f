# Thin on purpose: the logic of set-up is in scripts/setup.sh.
# Variables: PYTHON=/path/to/python3.13, JAVA_HOME=/path/to/jdk, ARGS="-k name" (for test),
# ROW="file-to-topic-1 latency-idle" (for bench; list names them, page writes docs/bench.md).
.DEFAULT_GOAL := help
.PHONY: help setup demo test heavy rules bench examples picture lint fmt lock clean

BIN := .venv/bin
# Two processes, each with servers of its own: tests wait more than they work. Not so the crowd,
# three workers, for example, each with a Spark of its own.
TWO := -n 2 --dist loadfile

help: ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: ## make .venv with the locked packages, penstock and its jars (nothing to do: instant)
	@scripts/setup.sh

demo: setup ## run the demo: an embedded broker, a source and a sink
	@$(BIN)/penstock demo

test: setup ## run the tests (ARGS="-k name" is passed on to pytest)
	@$(BIN)/python -m pytest -m "not heavy" $(TWO) $(ARGS)

heavy: setup ## run the tests that take minutes: kills, freezes, outages, 2 GB
ifdef ARGS
	@$(BIN)/python -m pytest -m heavy $(ARGS)
else
	@$(BIN)/python -m pytest -m crowd
	@$(BIN)/python -m pytest -m "heavy and not crowd" $(TWO)
endif

rules: setup ## take each rule of the protocol out and check that its test fails (ARGS="1a 3")
	@$(BIN)/python scripts/check_rules.py $(ARGS)

examples: setup ## run the examples, on one worker (ARGS="-v 03": just that, and what it prints)
	@$(BIN)/python examples/run.py $(ARGS)

picture: setup ## record the demo as docs/demo.svg
	@$(BIN)/python scripts/record_demo.py

bench: setup ## measure beside bare loops and Kafka Connect, half an hour (ROW=list, ROW="name ...")
	@$(BIN)/python -m bench $(ROW) $(ARGS)

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
	find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} +
