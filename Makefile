# What people run. It needs make and Python 3.11 to 3.14; everything else goes into .venv, pinned by hash.
# PYTHON=... chooses the Python; ARGS=... is passed on.

SHELL = /bin/sh
.PHONY: help run test check lock venv
# Not in parallel: the targets share .venv.
.NOTPARALLEL:

PYTHON =
ARGS =
PYTHONS = "$(PYTHON)" .venv/bin/python python3.14 python3.13 python3.12 python3.11 python3 python
# Wheels of the embedding runtime for Intel Macs end with 3.13. Debian packs venv apart.
SUITS = import sys, platform, venv, ensurepip; v = sys.version_info; \
	intel_mac = (sys.platform, platform.machine()) == ("darwin", "x86_64"); \
	sys.exit(not (3, 11) <= v[:2] <= (3, 13 if intel_mac else 14))
# The program that replaces the shell has no business with make's variables.
PREPARE = unset MAKEFLAGS MFLAGS MAKELEVEL; \
	for python in $(PYTHONS); do \
		if "$$python" -c '$(SUITS)' >/dev/null 2>&1; then break; fi; \
		if test -n "$(PYTHON)"; then python=; break; fi; \
		python=; \
	done; \
	if test -z "$$python"; then \
		echo 'No suitable Python: 3.11 to 3.14 with the modules venv and ensurepip is needed.' >&2; \
		echo 'Debian, Ubuntu: apt install python3 python3-venv. macOS: brew install python@3.13.' >&2; \
		echo 'Where it has another name: make PYTHON=/path/to/python' >&2; \
		exit 1; \
	fi; \
	"$$python" .ci/prepare.py

help: ## Show what there is
	@sed -n 's/^\([a-z]*\):.*## /make \1	/p' Makefile

run: ## Start PostgreSQL, publish the shipped records and serve them
	@$(PREPARE) && exec .venv/bin/chatctx run $(ARGS)

test: ## Run all tests
	@$(PREPARE) --dev && exec .venv/bin/python -m pytest -n 2 --dist loadfile $(ARGS)

check: ## Look for mistakes without running anything: ruff, mypy, import-linter
	@$(PREPARE) --dev && .venv/bin/ruff check . && .venv/bin/mypy && .venv/bin/lint-imports

venv: ## Install everything for development into .venv
	@$(PREPARE) --dev

lock: ## Pin the dependencies anew, with uv; ARGS=--upgrade takes newer ones
	@command -v uv >/dev/null || { echo 'make lock needs uv: pip install uv' >&2; exit 1; }
	@compile() { uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes \
		--only-binary :all: --custom-compile-command 'make lock' --group build $(ARGS) "$$@"; }; \
	compile --output-file requirements.lock && \
	compile --group dev --constraint requirements.lock --output-file requirements-dev.lock && \
	for list in tests/clients/python/*.in; do \
		uv pip compile "$$list" --quiet --no-config --universal --python-version 3.11 --generate-hashes \
			--only-binary :all: --custom-compile-command 'make lock' $(ARGS) --output-file "$${list%.in}.lock" || exit 1; \
	done
