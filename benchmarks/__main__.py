"""`make bench`: every measurement of this folder, one after the other."""

from __future__ import annotations

from benchmarks import bench_generate, bench_http, bench_prefix_cache, bench_store, measure_beam, planted_faults
from benchmarks.seeded_defects import __main__ as seeded_defects

if __name__ == "__main__":
    bench_generate.main()
    bench_http.main()
    bench_store.main()
    bench_prefix_cache.main()
    measure_beam.main()
    seeded_defects.main([])
    planted_faults.main([])
