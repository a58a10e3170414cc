"""Write a record a year old, made up: 1,000,000 marks and 5,000,000 quotes at --scale 1.

The same scale and seed make the same rows. python -m benchmarks.year year.db --scale 1
"""

import argparse
import time
from pathlib import Path

from tests.year.record import make_of, size


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("path", type=Path, help="the file to write")
    parser.add_argument("--scale", type=float, default=0.1, help="1 for a whole year; default %(default)s")
    parser.add_argument("--agents", type=int, help="so many, whatever the scale; the marks stay as many")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    began = time.perf_counter()
    made = make_of(chosen.path, size(chosen.scale, chosen.agents), chosen.seed)
    size_in_mb = chosen.path.stat().st_size / 1e6
    print(f"{chosen.path}: {made.agents} agents, {made.markets:,} markets, {made.quotes:,} quotes of each;")
    print(f"{size_in_mb:,.0f} MB in {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
