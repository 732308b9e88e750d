"""What a release says about itself is said the same everywhere."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml

import longbeam

REPOSITORY = Path(__file__).parents[1]


def test_the_version_is_one() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
    assert project["version"] == citation["version"] == longbeam.__version__
    assert project["license"] == citation["license"]


def test_the_core_has_at_most_fifty_packages() -> None:
    lock = (REPOSITORY / "requirements-core.lock").read_text(encoding="utf-8")
    assert len(re.findall(r"^[\w.-]+==", lock, re.MULTILINE)) <= 50


def test_the_workflow_runs_the_checks_and_each_python() -> None:
    jobs = yaml.safe_load((REPOSITORY / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))["jobs"]
    assert jobs["checks"]["steps"][-1]["run"] == ".ci/run"
    assert jobs["wheel"]["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13"]
