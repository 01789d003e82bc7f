# Thin on purpose: the logic of set-up is in scripts/setup.sh.
# Variables: PYTHON=/path/to/python3.13, JAVA_HOME=/path/to/jdk, ARGS="-k name" (for test),
# ROUNDS, SEED, MINUTES (for chaos), TIMES, MINUTES (for steady),
# PYTEST="python -m scripts.second_try" (CI: a test whose wait ran out is tried again, alone),
# ROW="file-to-topic-1 latency-idle" (for bench; list names them, page writes docs/bench.md).
.DEFAULT_GOAL := help
.PHONY: help setup demo test heavy k8s-programs test-k8s heavy-k8s test-clouds steady rules chaos bench examples walk \
	picture lint fmt lock clean

BIN := .venv/bin
PYTEST := python -m pytest
# Several processes, each with servers of its own: tests wait more than they work. Not so the crowd,
# three workers, for example, each with a Spark of its own.
TWO := -n 2 --dist loadfile
THREE := -n 3 --dist loadfile
# Their servers need what a newcomer may not have: Go, npm.
APART := --ignore tests/kube --ignore tests/clouds

help: ## print this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: ## make .venv with the locked packages, penstock and its jars (nothing to do: instant)
	@scripts/setup.sh

demo: setup ## run the demo: pageviews joined with users in PostgreSQL, in SQL
	@$(BIN)/penstock demo

test: setup ## run the tests (ARGS="-k name" is passed on to pytest)
	@$(BIN)/$(PYTEST) -m "not heavy" $(APART) $(THREE) $(ARGS)

heavy: setup ## run the tests that take minutes: kills, freezes, outages, 2 GB
ifdef ARGS
	@$(BIN)/$(PYTEST) -m heavy $(APART) $(ARGS)
else
	@$(BIN)/$(PYTEST) -m crowd
	@$(BIN)/$(PYTEST) -m "heavy and not crowd" $(APART) $(TWO)
endif

# Before pytest, whose tests have ten minutes at most; without Go (exit code 3) they are skipped.
k8s-programs: setup ## build the Kubernetes API server, its controllers and helm (once, 10 minutes)
	@for what in build controllers helm; do \
		scripts/kube_api.sh $$what >/dev/null || [ $$? -eq 3 ] || exit 1; done

test-k8s: k8s-programs ## run the tests on a real Kubernetes API server (needs Go)
	@$(BIN)/$(PYTEST) -m "not heavy" tests/kube $(ARGS)

heavy-k8s: k8s-programs ## the long ones of those: the operator killed at every request, 500 resources
	@$(BIN)/$(PYTEST) -m heavy tests/kube $(ARGS)

test-clouds: setup ## run the tests on the APIs of Azure and Google Cloud (needs npm and Go)
	@$(BIN)/$(PYTEST) tests/clouds $(ARGS)

steady: setup ## which tests fail by chance? Under load, in random order (TIMES=3 MINUTES=60)
	@$(BIN)/python -m scripts.steady $(if $(TIMES),--times $(TIMES)) \
		$(if $(MINUTES),--minutes $(MINUTES)) $(ARGS)

rules: setup ## take each rule of the protocol out and check that its test fails (ARGS="1a 3")
	@$(BIN)/python -m scripts.check_rules $(ARGS)

chaos: setup ## break things at random, and look for lost lines (ROUNDS=25 SEED=1 MINUTES=30)
	@$(BIN)/python -m chaos $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(SEED),--seed $(SEED)) \
		$(if $(MINUTES),--minutes $(MINUTES)) $(ARGS)

examples: setup ## run the examples, on one worker (ARGS="-v 03": just that, and what it prints)
	@$(BIN)/python examples/run.py $(ARGS)

walk: setup ## type README's commands, as they stand, in a fresh clone
	@$(BIN)/python -m scripts.walk_readme

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

lock: ## resolve requirements/lock.txt again from pyproject.toml (needs the network, takes minutes)
	@scripts/lock.sh

clean: ## remove .venv, caches and build outputs (nothing outside this folder)
	rm -rf .venv .setup.log .setup.lock build dist src/*.egg-info
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests bench chaos -name __pycache__ -type d -prune -exec rm -rf {} +
