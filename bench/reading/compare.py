"""How fast entries are read from CSV, beside polars, in one run.

Made files of `row,column,value` with names that are text and with names that are numbers; each reader
runs in a process of its own, in turn, on the file as the system has cached it. Prints a table and
writes `reading.json`.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

POLARS = """
import json, resource, sys, time
import polars
began = time.perf_counter()
frame = polars.read_csv(sys.argv[1])
seconds = time.perf_counter() - began
peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"entries": len(frame), "seconds": seconds, "peak_bytes": peak}))
"""


def write(path, lines, prefix):
    """A file of `lines` entries, most of them in few of 200,000 rows, over 20,000 columns."""
    import numpy
    import polars

    generator = numpy.random.default_rng(1)
    with open(path, "wb") as file:
        done = 0
        while done < lines:
            count = min(2_000_000, lines - done)
            rows = (200_000 * generator.random(count) ** 2).astype(numpy.int64)
            columns = (20_000 * generator.random(count) ** 2).astype(numpy.int64)
            names = [("row", "r", rows), ("column", "c", columns)]
            text = {
                name: polars.Series(name, number).cast(polars.String) if prefix else number
                for name, _, number in names
            }
            frame = polars.DataFrame({**text, "value": generator.normal(3.0, 1.0, count).round(3)})
            if prefix:
                frame = frame.with_columns(
                    [polars.format(letter + "{}", name).alias(name) for name, letter, _ in names]
                )
            frame.write_csv(file, include_header=done == 0)
            done += count


def run(command):
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(output.strip().splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reader", required=True, help="the built example `read_entries`")
    parser.add_argument("--lines", type=lambda text: int(float(text)), default=50_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, required=True, help="folder for files and results")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    results = []
    for names, prefix in [("text", True), ("numbers", False)]:
        path = args.out / f"reading-{names}.csv"
        write(path, args.lines, prefix)
        size = os.path.getsize(path)
        readers = {
            "polars": [sys.executable, "-c", POLARS, str(path)],
            "isofactor": [args.reader, str(path)],
        }
        found = {name: [] for name in readers}
        for _ in range(args.rounds):
            for name, command in readers.items():
                found[name].append(run(command))
                time.sleep(0.5)
        path.unlink()
        for name, runs in found.items():
            best = min(runs, key=lambda result: result["seconds"])
            assert best["entries"] == args.lines, (name, best)
            results.append({"names": names, "reader": name, "bytes": size, **best})
            speed = args.lines / best["seconds"] / 1e6
            each = best["peak_bytes"] / args.lines
            print(
                f"{names:<8} {name:<10} {best['seconds']:6.2f} s  {speed:5.1f} million lines a second"
                f"  {size / best['seconds'] / 1e6:5.0f} MB/s  {each:5.1f} bytes a line at the peak",
                flush=True,
            )
        of = {result["reader"]: result["seconds"] for result in results if result["names"] == names}
        print(f"{names:<8} isofactor has {of['polars'] / of['isofactor']:.2f} of the speed of polars")
    (args.out / "reading.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
