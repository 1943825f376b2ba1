# Two commands do all the set-up on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
RUN    := $(VENV)/bin
# constraints.txt pins torch to a CPU build's version; without it pip would fetch gigabytes of GPU libraries.
INSTALL := $(RUN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable
# All but torch comes first, from locks: a file whose SHA-256 is not there is refused. The editable install adds the rest.
LOCKED := $(RUN)/pip install --quiet --disable-pip-version-check --require-hashes --no-deps --requirement

.PHONY: demo test lint docs deploy-lint format lock sbom audit clean
.DEFAULT_GOAL := demo

$(VENV)/installed: pyproject.toml constraints.txt locks/demo.txt
	$(PYTHON) -m venv $(VENV)
	$(LOCKED) locks/demo.txt
	$(INSTALL) '.[demo,search,serve]'
	touch $@

$(VENV)/tools: $(VENV)/installed locks/tools.txt
	$(LOCKED) locks/tools.txt
	$(INSTALL) '.[demo,search,serve,milvus,pgvector,ray,hub,openclip,ctranslate2,onnx,words,use,cjk,raw,docs,dev]'
	touch $@

demo: $(VENV)/installed  ## train a model in fifteen languages on emoji and write its report
	$(RUN)/groundling demo

test: $(VENV)/tools  ## all tests
	$(RUN)/python -m pytest --numprocesses 2

lint: $(VENV)/tools  ## style, types, and the direction of imports
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/mypy
	$(RUN)/lint-imports

docs: $(VENV)/tools  ## the documentation as a site in build/site; a broken link is an error
	NO_MKDOCS_2_WARNING=1 $(RUN)/mkdocs build --strict

deploy-lint:  ## what lies in deploy/, each by the linter of its kind, in a folder of their own
	$(PYTHON) -m venv build/deploy-lint
	build/deploy-lint/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt --requirement deploy/lint-requirements.txt
	build/deploy-lint/bin/hadolint deploy/*.Dockerfile
	build/deploy-lint/bin/check-jsonschema --builtin-schema vendor.compose-spec deploy/compose*.yaml
	build/deploy-lint/bin/kubernetes-validate --strict deploy/kubernetes/*.yaml
	build/deploy-lint/bin/shellcheck deploy/slurm/*.sbatch

format: $(VENV)/tools
	$(RUN)/ruff check --fix .
	$(RUN)/ruff format .

torture: $(VENV)/tools  ## attacks and faults for a quarter of an hour; build/torture.json has what was found
	$(RUN)/python -m torture --out build/torture.json

reliability: $(VENV)/tools  ## the same, and its figures into docs/reliability.md
	$(RUN)/python -m torture --out docs/reliability.json --page docs/reliability.md

lock: $(VENV)/tools  ## the hashes of all that is installed, after a change of constraints.txt: make lock INDEX=https://HOST/simple
	$(RUN)/python scripts/supply_chain/lock.py --index $(INDEX)

sbom: $(VENV)/tools  ## what groundling is made of: build/sbom.cdx.json (CycloneDX) and build/licences.md
	$(RUN)/python scripts/supply_chain/sbom.py --out build

audit:  ## known vulnerabilities of what is pinned; needs pip-audit and the network
	pip-audit --strict --disable-pip --no-deps --requirement constraints.txt

clean:
	rm -rf $(VENV) build runs .pytest_cache .mypy_cache .ruff_cache .hypothesis
