# Needs Python 3.11 or newer and make. The first target that needs it makes .venv; later runs start at once.
# Another Python: make PYTHON=/path/to/python3.12
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory --no-builtin-rules
export PYTHON
unexport PYTHONPATH PYTHONHOME

packages := markets portfolio agents arena dashboard
checks := check-lint check-format check-types check-imports check-size check-style check-lock check-docs check-deploy

.PHONY: help setup demo test live check $(checks) format docs site bench lock clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

setup: ## make .venv from requirements.lock, and nothing else
	@sh scripts/setup.sh

demo: ## install what the product needs, play a whole season offline, then open the dashboard
	@sh scripts/setup.sh product
	@.venv/bin/arena demo

test: setup ## run the tests (THOROUGH=1: all of them, HISTORIES=10000: more histories of money; longer)
	@PYTHONDONTWRITEBYTECODE= .venv/bin/python -m pytest -n auto --maxprocesses 4 --dist worksteal

check: setup ## run every static check
	@$(MAKE) --keep-going $(checks)

check-lint: setup
	@.venv/bin/ruff check --quiet && echo "lint: ok"

check-format: setup
	@.venv/bin/ruff format --check --quiet --output-format concise && echo "format: ok"

check-types: setup
	@.venv/bin/mypy --no-error-summary $(addprefix --package ,$(packages) benchmarks tests) && \
		.venv/bin/mypy --no-error-summary --package scripts && echo "types: ok"

check-imports: setup
	@said=$$(.venv/bin/lint-imports --no-logo 2>&1) || { echo "$$said"; exit 1; }; echo "imports: ok"

check-size: setup
	@.venv/bin/python scripts/check_size.py && echo "size: ok"

check-style: setup
	@.venv/bin/python scripts/check_style.py && echo "style: ok"

check-lock: setup
	@.venv/bin/python scripts/check_lock.py && echo "lock: ok"

check-docs: setup
	@.venv/bin/python scripts/docs.py --check && echo "docs: ok"

check-deploy: setup
	@.venv/bin/python scripts/check_deploy.py && echo "deploy: ok"

live: setup ## with a network: ask each venue and each model of CONFIG=config.yaml one small question, and name what drifted
	@.venv/bin/python -m scripts.live $(or $(CONFIG),config.yaml)

format: setup ## lay out the code, and mend what can be mended by itself
	@.venv/bin/ruff check --fix --quiet; .venv/bin/ruff format --quiet

docs: setup ## write docs/cli.md, agents.md, config.md, data.md, glossary.md and the rules of scoring.md anew from the code
	@.venv/bin/python scripts/docs.py

site: setup ## build the docs as a searchable site in .site (its own environment, .venv-docs)
	@sh scripts/site.sh

bench: setup ## measure what is promised, and write docs/performance.md (an hour; BENCH="--quick", "--only sync")
	@.venv/bin/python -m benchmarks.performance $(BENCH)

lock: setup ## renew requirements.lock after a change of pyproject.toml (UPGRADE=1: newest versions)
	@.venv/bin/uv pip compile --quiet --universal --python-version 3.11 --group dev --generate-hashes \
		--no-emit-index-url --no-header --no-annotate $(if $(UPGRADE),--upgrade) \
		--output-file requirements.lock pyproject.toml
	@.venv/bin/uv pip compile --quiet --universal --python-version 3.11 --group site --generate-hashes \
		--no-emit-index-url --no-header --no-annotate $(if $(UPGRADE),--upgrade) \
		--output-file docs/requirements.lock
	@sh scripts/setup.sh

clean: ## remove .venv and every cache
	@rm -rf .venv .venv-docs .site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
