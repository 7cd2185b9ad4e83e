"""What the paths of a recorded survey tell of its pages, in the words of `[structure]` of a world.

A kind of pages is a word at the beginning of their names (`class` of `class_queue.html`) that five pages of a site have at least.
"""

import itertools
import math
import re
import statistics
import urllib.parse
from collections import Counter, defaultdict
from typing import NamedTuple

import polars

# Smaller sites tell little of kinds.
LEAST_PAGES, LEAST_OF_KIND = 30, 5
# A site is of several kinds if they hold this share of its pages.
LEAST_SHARE = 0.3
# Folders of which fewer pages are told from have too few for a share; of those of one kind so many are.
LEAST_IN_FOLDER, ONE_KIND = 4, 0.8
# Folders repeat each other if they have so many names in common, and these are so large a share of the larger one.
LEAST_REPEATED, REPEATED_SHARE = 20, 0.5


class Page(NamedTuple):
    folder: tuple
    name: str
    external_links: int
    hosts: int

    @property
    def kind(self):
        return re.match("[a-z]*", self.name.lower())[0]


def pages_by_site(survey):
    table = lambda name: polars.scan_parquet(survey / "tables" / name / "*.parquet")
    # The table of links has an external URL once for each tree, at the page that named it first.
    hosts = table("links").group_by("site", polars.col("page").alias("url")).agg(polars.col("host").n_unique().alias("hosts"))
    pages = table("exchanges").filter(
        polars.col("purpose") == "page", polars.col("status") == 200, polars.col("external_links").is_not_null()
    )
    rows = pages.join(hosts, on=("site", "url"), how="left").select("site", "url", "external_links", polars.col("hosts").fill_null(0))
    sites = defaultdict(list)
    for site, url, external_links, hosts in rows.sort("site", "url").collect().iter_rows():
        *folder, name = urllib.parse.urlsplit(url).path.split("/")[1:]
        sites[site].append(Page(tuple(folder), name, external_links, hosts))
    return [pages for pages in sites.values() if len(pages) >= LEAST_PAGES]


def kinds_of(pages):
    """The pages of each kind, of a site of several kinds; None for others."""
    kinds = defaultdict(list)
    for page in pages:
        kinds[page.kind].append(page)
    kinds = [pages for kind, pages in kinds.items() if kind and len(pages) >= LEAST_OF_KIND]
    covered = sum(map(len, kinds)) / len(pages)
    return kinds if len(kinds) > 1 and covered >= LEAST_SHARE else None


def variance_of_log_factor(kinds):
    """That of the factors by which the kinds' means of hosts of new URLs differ, above what chance makes of them; None if there are no hosts."""
    hosts = [[page.hosts for page in pages] for pages in kinds]
    count = sum(map(len, hosts))
    mean = sum(map(sum, hosts)) / count
    if not mean:
        return None
    excess = ((statistics.mean(of) - mean) ** 2 - statistics.variance(of) / len(of) for of in hosts)
    between = sum(len(of) * one for of, one in zip(hosts, excess)) / count
    return math.log1p(max(0.0, between) / mean**2)


def folders_of(pages):
    folders = defaultdict(list)
    for page in pages:
        folders[page.folder].append(page.kind)
    return [kinds for kinds in folders.values() if len(kinds) >= LEAST_IN_FOLDER]


def repeats_of(pages):
    """The folders that repeat the largest of their neighbours, and the pages that do, each with the one that it repeats."""
    parts = defaultdict(lambda: defaultdict(dict))
    for page in pages:
        for depth, part in enumerate(page.folder):
            parts[page.folder[:depth]][part][(*page.folder[depth + 1 :], page.name)] = page
    found = []
    for neighbours in parts.values():
        first, *others = sorted(neighbours.values(), key=len, reverse=True)
        common = [(other, first.keys() & other.keys()) for other in others]
        repeated = [(other, names) for other, names in common if len(names) >= max(LEAST_REPEATED, REPEATED_SHARE * len(first))]
        found.append((len(repeated), [(other[name], first[name]) for other, names in repeated for name in names]))
    return max(found, default=(0, []), key=lambda one: len(one[1]))


def measured(survey):
    """The keys of `[structure]` and their values, and of how many sites they are."""
    sites = pages_by_site(survey)
    kinds = [found for found in map(kinds_of, sites) if found]
    variances = [one for one in map(variance_of_log_factor, kinds) if one is not None]
    folders = list(itertools.chain.from_iterable(folders_of(pages) for pages in sites if kinds_of(pages)))
    alike = [Counter(folder).most_common(1)[0][1] >= ONE_KIND * len(folder) for folder in folders]
    repeats = [found for found in map(repeats_of, sites) if found[0]]
    pairs = list(itertools.chain.from_iterable(pairs for _, pairs in repeats))
    values = {
        "kinds_share": round(len(kinds) / len(sites), 3),
        "kinds": min(16, round(statistics.median(map(len, kinds)))),
        "kind_sigma": round(math.sqrt(statistics.mean(variances)), 2),
        "alike_share": round(statistics.mean(alike), 2),
        "repeats_share": round(len(repeats) / len(sites), 3),
    }
    if repeats:
        values["repeats"] = min(50, round(statistics.median(count for count, _ in repeats)))
        values["repeated_links_share"] = round(statistics.mean(one.external_links == first.external_links for one, first in pairs), 2)
    return len(sites), values
