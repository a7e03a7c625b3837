# Two commands for everyone: `make demo` and `make test`. Each sets up what it needs in
# .venv and starts at once the second time.
#   PYTHON=python3.12 make test     uses another interpreter for a new .venv

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
# The C library: at once if it is up to date.
BUILD := $(BIN)/python engine/build.py
export PYTHONDONTWRITEBYTECODE =

.DEFAULT_GOAL := help
.PHONY: help demo studio test quick check engine sanitize docs bench fuzz clean

help:
	@echo "make demo   set up, learn the Alarm network back from 5,000 rows, make a page of it"
	@echo "make studio set up, then open the studio in the browser"
	@echo "make test   set up, then format, lint, types and all tests"
	@echo "make quick  format, lint and the fast tests, in about a minute"
	@echo "make check  format, lint and types only"
	@echo "make engine build the C library after a change of engine/"
	@echo "make sanitize the kernel tests with a library that checks memory and ranges"
	@echo "make docs   build the documentation into build/docs, without the network"
	@echo "make bench  local scores a second, beside the peers"
	@echo "make fuzz   mutate every kind of input for ten minutes (SECONDS=60 make fuzz: one)"
	@echo "make clean  remove .venv and everything that was made"

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("coevo needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12 " if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: $(BIN)/python pyproject.toml constraints.txt
	@echo "Setting up .venv (once) ..."
	@$(PIP) --editable '.[plot]'
	@touch $@

# --no-compile: bytecode is made when a module is imported first, and most never are
$(VENV)/installed-dev: $(BIN)/python pyproject.toml constraints.txt
	@echo "Setting up .venv with the tools for development (once) ..."
	@$(PIP) --no-compile --editable '.[plot,dev]'
	@touch $(VENV)/installed $@

# the packages of the system are installed while pip works
$(VENV)/browser: $(BIN)/python
	@scripts/browser packages & $(MAKE) --no-print-directory $(VENV)/installed-dev; status=$$?; wait; exit $$status
	@PATH="$(CURDIR)/$(BIN):$$PATH" scripts/browser
	@touch $@

demo: $(VENV)/installed
	@$(BUILD)
	@PATH="$(CURDIR)/$(BIN):$$PATH" scripts/demo

$(VENV)/installed-studio: $(VENV)/installed
	@$(PIP) --editable '.[plot,studio]'
	@touch $@

studio: $(VENV)/installed-studio
	@$(BUILD)
	@$(BIN)/coevo studio

test: $(VENV)/browser $(VENV)/installed-dev
	@$(BUILD)
	@PATH="$(CURDIR)/$(BIN):$$PATH" scripts/gate

quick: $(VENV)/installed-dev
	@$(BUILD)
	@PATH="$(CURDIR)/$(BIN):$$PATH" scripts/quick

check: $(VENV)/installed-dev
	@PATH="$(CURDIR)/$(BIN):$$PATH" scripts/check

engine: $(BIN)/python
	@$(BUILD)

sanitize: $(VENV)/installed-dev
	@PATH="$(CURDIR)/$(BIN):$$PATH" scripts/sanitize

docs: $(VENV)/installed-dev
	@$(BUILD)
	@PATH="$(CURDIR)/$(BIN):$$PATH" scripts/docs

bench: $(VENV)/installed-dev
	@$(BUILD)
	@$(BIN)/python benchmarks/local_scores.py

fuzz: $(VENV)/installed-dev
	@$(BUILD)
	@cd tests && ../$(BIN)/python -m fuzz.run --seconds $(or $(SECONDS),600) --seed $(or $(SEED),0)

clean:
	rm -rf $(VENV) demo dist build docs/reference/generated .mypy_cache .ruff_cache .pytest_cache .hypothesis
