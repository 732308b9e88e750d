"""BM25 without what bm25s brings in."""

import subprocess
import sys
from pathlib import Path


def test_jax_is_not_imported_where_it_is_installed(tmp_path: Path) -> None:
    # JAX takes three quarters of the GPU's memory at its first array, which is what vLLM beside it needs.
    package = tmp_path / "jax"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "lax.py").write_text("raise SystemExit('JAX was imported')")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import logging, longbeam.memory.retrieval; "
        "print('jax' in sys.modules); import jax; print(jax.__file__); print(logging.getLogger('bm25s').level)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.split() == ["False", str(package / "__init__.py"), "30"]  # no DEBUG lines of indices
