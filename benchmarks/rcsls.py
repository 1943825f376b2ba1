"""What RCSLS costs: time against a plain NumPy version of the same steps, and the peak of memory.

    python benchmarks/rcsls.py [--words 20000] [--dimensions 300] [--pairs 5000] [--iterations 10] [--json]
    python benchmarks/rcsls.py --memory [--words 200000]
    python benchmarks/rcsls.py --gpu [--words 200000]   # against the matrix products that a full search would need

The plain version does at each step what fastText's tool does: in batches, all inner products of the dictionary's
words with all words of the other language (np.dot, multi-threaded BLAS), the k best by np.argpartition, objective and
gradient from them. It has our roll-back, so both take the same steps. It runs in float32, which is faster for it than
the float64 that a loader written with np.zeros gives; --double times that, too. Its batches were chosen to be fast.

Vectors are random with a spectrum that falls as that of word vectors does (--spectrum 0 for none); the second language
is the first one, turned and blurred. Ours searches exactly as well, but mostly among candidates that the last steps
have left possible. How many those are depends on the length of the steps, so a short one (1, the default of our
command) and a long one (25, fastText's example) are timed.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from typing import Any


def make_languages(words: int, dimensions: int, spectrum: float) -> Any:
    """Unit vectors [words, dimensions] of two languages, float32, made in place."""
    import torch

    draw = torch.Generator().manual_seed(0)
    scale = torch.arange(1, dimensions + 1) ** -spectrum
    turn = torch.linalg.qr(torch.randn(dimensions, dimensions, generator=draw))[0]
    one, other = torch.empty(words, dimensions), torch.empty(words, dimensions)
    for a, b in zip(one.split(10_000), other.split(10_000), strict=True):
        a.normal_(generator=draw).mul_(scale)
        a /= a.norm(dim=1, keepdim=True)
        b.normal_(generator=draw).mul_(0.7 / dimensions**0.5).add_(a @ turn)
        b /= b.norm(dim=1, keepdim=True)
    return one, other


def plain_rcsls(source: Any, target: Any, pairs: int, start: Any, iterations: int, rate: float, k: int = 10) -> Any:
    """RCSLS in NumPy: every step searches the neighbours of all dictionary words among all words."""
    import numpy as np

    a, b = source[:pairs], target[:pairs]

    def nearest(queries: Any, candidates: Any, batch: int = 500) -> tuple[float, Any]:
        total, rows = 0.0, []
        for at in range(0, len(queries), batch):
            scores = np.dot(queries[at : at + batch], candidates.T)
            best = np.argpartition(scores, -k, axis=1)[:, -k:]
            total += float(np.take_along_axis(scores, best, axis=1).sum(dtype=np.float64))
            rows.append(best)
        return total / k, np.concatenate(rows)

    def criterion(matrix: Any) -> tuple[float, Any]:
        mapped = np.dot(a, matrix.T)
        value, near = nearest(mapped, target)
        more, near_source = nearest(b, np.dot(source, matrix.T))
        value += more - 2 * float((mapped * b).sum(dtype=np.float64))
        gradient = -2 * np.dot(b.T, a)
        gradient += np.dot(target[near].sum(axis=1).T, a) / k
        gradient += np.dot(b.T, source[near_source].sum(axis=1)) / k
        return value / pairs, gradient / pairs

    matrix, values = start, []
    value, gradient = criterion(matrix)
    for _ in range(iterations):
        trial = matrix - matrix.dtype.type(rate) * gradient
        new_value, new_gradient = criterion(trial)
        if new_value <= value:
            matrix, value, gradient = trial, new_value, new_gradient
        else:
            rate /= 2
        values.append(value)
    return values


def time_ratio(options: argparse.Namespace, rate: float) -> dict[str, Any]:
    """Both versions on the same vectors, one after the other in every round; the best time of each."""
    import numpy as np
    import torch

    from groundling.words.procrustes import procrustes
    from groundling.words.rcsls import Criterion, rcsls

    source, target = make_languages(options.words, options.dimensions, options.spectrum)
    pairs = torch.arange(options.pairs)[:, None].repeat(1, 2)
    start = procrustes(source[: options.pairs], target[: options.pairs])

    def ours() -> list[float]:
        return rcsls(Criterion(pairs, source, target), start, options.iterations, rate).objective

    def plain(kind: Any) -> list[float]:
        one, other, matrix = (tensor.numpy().astype(kind) for tensor in (source, target, start))
        return plain_rcsls(one, other, options.pairs, matrix, options.iterations, rate)

    works = {"ours": ours, "numpy_float32": lambda: plain(np.float32)}
    if options.double:
        works["numpy_float64"] = lambda: plain(np.float64)
    seconds: dict[str, list[float]] = {name: [] for name in works}
    objectives = {}
    for _ in range(options.rounds):
        for name, work in works.items():
            began = time.perf_counter()
            objectives[name] = work()
            seconds[name].append(time.perf_counter() - began)
    best = {name: min(values) for name, values in seconds.items()}
    reference = objectives["numpy_float64" if options.double else "numpy_float32"]
    return {
        "learning_rate": rate,
        "seconds": best,
        "ratio": best["numpy_float32"] / best["ours"],
        "ratios_by_round": [a / b for a, b in zip(seconds["numpy_float32"], seconds["ours"], strict=True)],
        "largest_difference": max(abs(a - b) for a, b in zip(objectives["ours"], reference, strict=True)),
    }


def peak_memory(options: argparse.Namespace) -> dict[str, float]:
    """Peak of a process that holds the vectors of both languages and takes one RCSLS step with all of them, in MB."""
    import torch

    from groundling.words.procrustes import procrustes
    from groundling.words.rcsls import Criterion, rcsls

    source, target = make_languages(options.words, options.dimensions, options.spectrum)
    pairs = torch.arange(options.pairs)[:, None].repeat(1, 2)
    start = procrustes(source[: options.pairs], target[: options.pairs])
    vectors = _peak()
    rcsls(Criterion(pairs, source, target), start, options.iterations, 1.0)
    return {"vectors_and_libraries": vectors, "peak": _peak()}


def against_products(options: argparse.Namespace, rate: float) -> dict[str, Any]:
    """On a GPU: all of RCSLS, against nothing but the products of dictionary words with all words, in float32.

    A plain version needs these products at every step, and then has to find the largest scores in them.
    """
    import torch

    from groundling.words.procrustes import procrustes
    from groundling.words.rcsls import Criterion, rcsls

    source, target = (vectors.cuda() for vectors in make_languages(options.words, options.dimensions, options.spectrum))
    pairs = torch.arange(options.pairs, device="cuda")[:, None].repeat(1, 2)
    start = procrustes(source[: options.pairs], target[: options.pairs])

    def products() -> None:
        out = torch.empty(512, options.words, device="cuda")
        for _ in range(options.iterations + 1):
            for queries, candidates in ((source[: options.pairs], target), (target[: options.pairs], source)):
                for part in queries.split(512):
                    torch.matmul(part, candidates.T, out=out[: len(part)])

    def plain() -> None:
        for _ in range(options.iterations + 1):
            for queries, candidates in ((source[: options.pairs], target), (target[: options.pairs], source)):
                for part in queries.split(512):
                    (part @ candidates.T).topk(10, dim=1)

    works = {
        "ours": lambda: rcsls(Criterion(pairs, source, target), start, options.iterations, rate),
        "products": products,
        "products_and_topk": plain,
    }
    seconds: dict[str, float] = {}
    for number in range(options.rounds + 1):  # the first round warms up
        for name, work in works.items():
            torch.cuda.synchronize()
            began = time.perf_counter()
            work()
            torch.cuda.synchronize()
            took = time.perf_counter() - began
            seconds[name] = took if number < 2 else min(seconds[name], took)
    return {"learning_rate": rate, "seconds": seconds, "ratio": seconds["ours"] / seconds["products"]}


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time and memory of RCSLS.")
    parser.add_argument("--words", type=int, help="per language; default 20,000, with --memory 200,000")
    parser.add_argument("--dimensions", type=int, default=300)
    parser.add_argument("--pairs", type=int, default=5_000)
    parser.add_argument("--iterations", type=int, help="default 10, with --memory 2")
    parser.add_argument("--spectrum", type=float, default=0.35, help="how fast the spectrum falls: i-th scale i^-x")
    parser.add_argument("--rates", type=float, nargs="+", default=[1.0, 25.0], help="first step sizes")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--double", action="store_true", help="time the plain version in float64, too")
    parser.add_argument("--memory", action="store_true", help="peak of memory instead of time")
    parser.add_argument("--gpu", action="store_true", help="time on a GPU, as a ratio to the matrix products alone")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of both versions; default: all cores")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    threads = str(options.threads)
    if os.environ.get("OPENBLAS_NUM_THREADS") != threads:  # BLAS reads it when it is loaded: start anew
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
        sys.exit(subprocess.run([sys.executable, *sys.argv], env=environment, check=False).returncode)
    options.words = options.words or (200_000 if options.memory or options.gpu else 20_000)
    options.iterations = options.iterations or (2 if options.memory else 10)
    found: dict[str, Any] = {name: getattr(options, name) for name in ("words", "dimensions", "pairs", "threads")}
    if options.memory:
        found["megabytes"] = peak_memory(options)
    elif options.gpu:
        found["on_a_gpu"] = [against_products(options, rate) for rate in options.rates]
    else:
        found["timings"] = [time_ratio(options, rate) for rate in options.rates]
    if options.json:
        print(json.dumps(found, indent=1))
        return
    print(f"{options.words:,} × {options.dimensions} vectors per language, {options.pairs:,} pairs, ", end="")
    print(f"{options.iterations} iterations, {options.threads} threads")
    for timing in found.get("timings", []):
        seconds = ", ".join(f"{name} {value:.2f} s" for name, value in timing["seconds"].items())
        print(f"step size {timing['learning_rate']:g}: {seconds}; {timing['ratio']:.1f} times as fast", end="; ")
        print(f"objectives differ by {timing['largest_difference']:.1e} at most")
    for timing in found.get("on_a_gpu", []):
        seconds = ", ".join(f"{name} {value:.3f} s" for name, value in timing["seconds"].items())
        print(f"step size {timing['learning_rate']:g}: {seconds}; {timing['ratio']:.2f} of the products")
    if options.memory:
        print("peak of memory: {peak:,.0f} MB ({vectors_and_libraries:,.0f} before RCSLS)".format(**found["megabytes"]))


if __name__ == "__main__":
    main()
