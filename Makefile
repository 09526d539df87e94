# Every command builds what it needs and can be run again; the second time it
# only checks time stamps.
#
#   make serve       dashboards; PORT=8000 and ADDRESS=0.0.0.0 say where
#   make test        every test, headless-browser tests included
#   make lint        formatting, style, types, import rules
#   make bench       what is timed, and against what
#   make notebooks   executes every notebook from a clean kernel
#   make lab         JupyterLab in notebooks/
#   make clean       removes .venv and what was built

SHELL := /bin/bash
VENV ?= .venv
ADDRESS ?= 127.0.0.1
PORT ?=
ARGS ?=
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help serve test lint bench notebooks lab browser clean
.DELETE_ON_ERROR:

help:
	@sed -n 's/^#   //p' Makefile

serve: $(VENV)/.installed
	$(BIN)/mkldash serve --address $(ADDRESS) $(if $(PORT),--port $(PORT)) $(ARGS)

lab: $(VENV)/.installed
	$(BIN)/mkldash lab $(ARGS)

test: $(VENV)/.installed-test browser
	$(BIN)/python -m pytest $(ARGS)

lint: $(VENV)/.installed-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.installed-test browser
	set -e; for script in benchmarks/[!_]*.py; do name=$$(basename $$script .py); echo "== $$name"; $(BIN)/python -m benchmarks.$$name $(ARGS); done

notebooks: $(VENV)/.installed-test
	$(BIN)/python -m pytest -m notebook $(ARGS)

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis .import_linter_cache

# The first Python of at least 3.11 on the PATH; PYTHON=... chooses another.
$(BIN)/python:
	@set -e; \
	for candidate in $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11); do \
	    if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	        echo "Creating $(VENV) with $$("$$candidate" --version)"; \
	        "$$candidate" -m venv $(VENV) || { \
	            rm -rf $(VENV); \
	            echo "$$candidate cannot create environments; on Debian: apt-get install python3-venv" >&2; \
	            exit 1; }; \
	        exit 0; \
	    fi; \
	done; \
	echo "mkldash needs Python 3.11 or newer; $(or $(PYTHON),python3) here: $$($(or $(PYTHON),python3) --version 2>&1). Install one, or name it: make PYTHON=python3.12" >&2; \
	exit 1

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	@echo "Installing mkldash and what it needs (a few minutes the first time)"
	$(INSTALL) --editable .
	@touch $@

$(VENV)/.installed-test: pyproject.toml | $(BIN)/python
	@echo "Installing mkldash and what its tests need (a few minutes the first time)"
	$(INSTALL) --editable '.[test]'
	@touch $@ $(VENV)/.installed

# A Chromium on the PATH, else Debian's package, else Playwright's own.
browser: $(VENV)/.installed-test
	@for name in chromium chromium-browser google-chrome; do \
	    command -v $$name >/dev/null && exit 0; \
	done; \
	if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
	    echo "Installing Debian's chromium"; \
	    export DEBIAN_FRONTEND=noninteractive; \
	    apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null && exit 0; \
	    echo "Debian's chromium could not be installed; trying Playwright's own" >&2; \
	fi; \
	$(BIN)/python -m playwright install chromium
