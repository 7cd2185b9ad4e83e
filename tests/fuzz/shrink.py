"""Chooses the inputs of a corpus that together reach nearly all that it reaches.

`shrink.py join CORPUS FOLDER` writes inputs put behind one another to FOLDER: a page of several pages often reaches
what each of them reached. `shrink.py keep CONTROL_FILE CORPUS` reads the control file of a merge by libFuzzer with
`-set_cover_merge=1`, which tells the edges that each input reaches, and leaves in CORPUS what is kept: first the input that
reaches most edges, then the one that reaches most of the others, and so on while one reaches FEWEST that none before it did.
"""

import hashlib
import heapq
import random
import sys
from pathlib import Path

# Fewer hang on a branch of one input: a corpus of those would have an input for nearly each of them.
FEWEST = 4
JOINED = 2000
# Long inputs are slow to try and hard to mutate.
LONGEST = 1500


def name(text):
    """What libFuzzer calls an input."""
    return hashlib.sha1(text).hexdigest()


def join(corpus, folder):
    chance = random.Random(1)
    inputs = [path.read_bytes() for path in sorted(corpus.iterdir())]
    for _ in range(JOINED if inputs else 0):
        joined = chance.choice(inputs)
        for _ in range(chance.choice([1, 2, 4, 8, 16, 32])):
            more = chance.choice(inputs)
            if len(joined) + len(more) <= LONGEST:
                joined += more
        (folder / name(joined)).write_bytes(joined)


def reached(control_file):
    """The edges that each input reaches, with its size."""
    number, _, *lines = control_file.read_text().splitlines()
    paths, sizes, edges = lines[: int(number)], {}, {}
    for line in lines[int(number) :]:
        word, which, *numbers = line.split()
        path = Path(paths[int(which)])
        if word == "STARTED":
            sizes[path] = int(numbers[0])
        elif word == "FT":
            edges[path] = frozenset(numbers)
    return sizes, edges


def chosen(sizes, edges):
    seen, kept = set(), []
    # What an input adds only becomes less, so one that still adds what it did when it was put here adds most of all.
    waiting = [(-len(edges[path]), sizes[path], path) for path in edges]
    heapq.heapify(waiting)
    while waiting:
        before, size, path = heapq.heappop(waiting)
        adds = len(edges[path] - seen)
        if adds < FEWEST:
            continue
        if adds < -before:
            heapq.heappush(waiting, (-adds, size, path))
            continue
        seen |= edges[path]
        kept.append(path)
    return kept, len(seen)


def keep(control_file, corpus):
    sizes, edges = reached(control_file)
    kept, seen = chosen(sizes, edges)
    texts = [path.read_bytes() for path in kept]
    before = list(corpus.iterdir())
    for text in texts:
        (corpus / name(text)).write_bytes(text)
    names = {name(text) for text in texts}
    for path in before:
        if path.name not in names:
            path.unlink()
    most = len(frozenset().union(*edges.values()))
    was = len(frozenset().union(*(edges[path] for path in edges if path.parent == corpus)))
    print(f"    {len(before)} inputs that reached {was} edges, now {len(texts)} that reach {seen} of {most}")


command, first, second = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
{"join": join, "keep": keep}[command](first, second)
