# Every target installs what it needs first; a second run finds it done.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed
# All cores; a test that is waiting goes to the worker that has nothing left to do. Goldens are refreshed one by one.
WORKERS := $(if $(ACP_REFRESH),0,auto)
PYTEST := $(PY) -m pytest --numprocesses=$(WORKERS) --dist=worksteal
# What runs side by side prints one after the other, where make can (4.0 and newer).
SYNC := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
# Most tests start programs of ours; what one of them has compiled, the next need not compile again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup generate format check lint types pyright mypy drift unit test tools endurance minimum pythons versions interop \
	interop-agents wheel bench bench-tolerance bench-connection soak release-check bump bump-ready vectors compare history docs clean

help: ## Show the targets.
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

$(STAMP): requirements-dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "error: Python 3.11 or newer is needed (make PYTHON=python3.12)")'
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check --requirement requirements-dev.txt
	@touch $@

setup: $(STAMP) ## Make .venv and install the pinned tools.

generate: $(STAMP) ## Write generated/ from schema/.
	@$(PY) -m generator generate

format: $(STAMP) ## Format our own code, sort its imports, and fix what the linter can.
	@$(VENV)/bin/ruff check --quiet --fix .
	@$(VENV)/bin/ruff format --quiet .

lint: $(STAMP) ## Lint and check the formatting of our own code.
	@$(VENV)/bin/ruff check --quiet .
	@$(VENV)/bin/ruff format --quiet --check .

types: pyright mypy ## Type check with pyright strict and mypy --strict.

pyright: $(STAMP)
	@$(VENV)/bin/pyright --warnings

mypy: $(STAMP)
	@$(VENV)/bin/mypy

drift: $(STAMP) ## Compare generated/ with what the generator writes.
	@$(PY) -m generator generate --check

check: $(STAMP) ## Lint, type check and compare, side by side: about a minute.
	@$(MAKE) --no-print-directory --jobs=2 $(SYNC) pyright mypy drift lint

unit: $(STAMP) ## Run the quick tests of every area, without browser, network and many processes: under a minute.
	@HYPOTHESIS_PROFILE=unit $(PYTEST) -m "not slow and not endurance and not browser and not network"

test: $(STAMP) ## Run the checks and all tests: about five minutes on two cores.
	@echo "1/2 ruff, pyright, mypy, and generated/ against the generator: about a minute, and one more the first time,"
	@echo "    when the tools of the documentation and the SDKs of others are installed meanwhile"
	@$(MAKE) --no-print-directory --jobs=3 $(SYNC) tools pyright mypy drift lint
	@echo "2/2 all tests, on all cores: about four minutes on two"
	@HYPOTHESIS_PROFILE=test $(PYTEST) -m "not endurance"

tools: $(STAMP)
	@$(PY) docs/build.py --tools-only
	@$(PY) -m tests.interop.install --soft

endurance: $(STAMP) ## Run floods, measure memory and growth, read past pins, and try the properties at full length.
	@$(PYTEST) -m "endurance or hypothesis"

minimum: $(STAMP) ## Test the package on the oldest msgspec that it allows.
	@$(PY) -m tests.tools.versions --minimum

pythons: $(STAMP) ## Test the package on every Python that is installed.
	@$(PY) -m tests.tools.versions --pythons

versions: $(STAMP) ## Do both; no pair of versions is tested twice.
	@$(PY) -m tests.tools.versions --minimum --pythons

interop: $(STAMP) ## Try our ends against the SDKs of others.
	@$(PY) -m tests.interop.install
	@$(PYTEST) tests/interop

interop-agents: $(STAMP) ## Try real agents as far as they go without credentials.
	@PYTHONPATH=generated $(PY) -m tests.interop.agents

wheel: $(STAMP) ## Build the wheel and the sdist into dist/.
	@$(PY) -m build --no-isolation --outdir dist . >/dev/null
	@ls dist

bench: $(STAMP) ## Time all implementations side by side.
	@PYTHONPATH=generated $(PY) -m benchmarks.run

bench-tolerance: $(STAMP) ## Print what tolerance costs, as ratios of one run.
	@PYTHONPATH=generated $(PY) -m benchmarks.tolerance

bench-connection: $(STAMP) ## Time whole connections, ours and others', between processes.
	@PYTHONPATH=generated $(PY) -m benchmarks.connection

soak: $(STAMP) ## Flood connections, then send a million messages between two peers, one of which dies often.
	@PYTHONPATH=generated:. $(PY) -m tests.floods
	@PYTHONPATH=generated:. $(PY) -m tests.aio.soak

release-check: $(STAMP) ## Build, judge, install and use wheel and sdist (TAG=v1.2.3 compares versions).
	@$(PY) -m tests.tools.release_check --tag "$(TAG)"

bump: $(STAMP) ## Show all that taking SOURCE=… in changes and asks for; APPLY=1 writes it (PIN='--commit …').
	@test -n "$(SOURCE)" || { echo "error: name the source: make bump SOURCE=… [APPLY=1] [PIN='--commit …']" >&2; exit 1; }
	@$(PY) -m generator bump "$(SOURCE)" $(PIN) $(if $(APPLY),--apply)

vectors: $(STAMP) ## Record the reference's verdicts on the pinned schemas; needs cargo (CRATE=1.2.3 names its version).
	@$(PY) -m tests.oracle.record $(if $(CRATE),--crate $(CRATE))

compare: $(STAMP) ## Hold generated/ against the recorded verdicts, and name what would cure each difference.
	@$(PY) -m tests.oracle.compare

history: $(STAMP) ## Try the past schema files of SCHEMAS="…": checkouts of upstream, folders, files.
	@test -n "$(SCHEMAS)" || { echo "error: name the schemas: make history SCHEMAS=…" >&2; exit 1; }
	@$(PY) -m tests.generator.history $(SCHEMAS)

docs: $(STAMP) ## Build the documentation strictly, into .venv/docs/site.
	@$(PY) docs/build.py

clean: ## Remove what make has made, the sources aside.
	rm -rf $(VENV) dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
