"""Counts a site from its files, for comparison with what a survey found over HTTP.

For each depth the requests and pages that a survey must have made, and each external URL with the
depth at which it first occurs. It follows the words of the design: breadth first by levels,
redirects add no depth, one query URL a script, robots.txt and `nofollow` are heeded, paths that
repeat themselves are not fetched, nor files whose names say that they are no HTML.
"""

import collections
from urllib.robotparser import RobotFileParser

import files
import page
import urls

DEEPEST = 8


class Count:
    def __init__(self, site, non_html):
        self.site = site
        self.non_html = non_html  # endings of file names
        self.server = files.Server(site["server"], site["root"])
        self.robots = RobotFileParser()
        self.robots.parse(site.get("robots", "").splitlines())
        self.requests = collections.Counter()
        self.pages = collections.Counter()
        self.externals = {}  # identity → depth
        self.known = set()  # identities in a list, this level's or an earlier one's
        self.used_scripts = set()

    def run(self):
        start = urls.parse(f"{self.site['scheme']}://{self.site['host']}/")
        self.known.add(urls.identity(start))
        level, depth = [start], 0
        while level and depth <= DEEPEST:
            found = self.walk(level, depth)
            level = [url for identity, url in found.items() if identity not in self.known]
            self.known.update(map(urls.identity, level))
            depth += 1
        return self

    def walk(self, level, depth):
        """Fetches a level, which grows by the targets of redirects; returns what it links to."""
        found = {}
        for url in level:
            if not self.may_fetch(url, depth):
                continue
            self.requests[depth] += 1
            answer = self.server.answer(url[2], url[3])
            if answer.redirect:
                target = urls.parse(answer.redirect, url)
                if urls.identity(target) not in self.known:
                    self.known.add(urls.identity(target))
                    level.append(target)
            elif answer.is_html:
                self.pages[depth] += 1
                self.read(answer.file, url, depth, found)
        return found

    def read(self, file, url, depth, found):
        with open(file, "rb") as body:
            for link in page.links(body.read(), url):
                if link.url[1].split(":")[0] != self.site["host"]:
                    self.externals.setdefault(urls.identity(link.url), depth)
                elif not link.nofollow:
                    found.setdefault(urls.identity(link.url), link.url)

    def may_fetch(self, url, depth):
        """Whether a URL is asked for; a query URL that is uses up its script."""
        if depth > 0 and ending(url[2]) in self.non_html:
            return False
        script = urls.script(url)
        if repeats_itself(url[2]) or (script or urls.identity(url)) in self.used_scripts:
            return False
        if not self.robots.can_fetch("ccsurvey", urls.spelled(url)):
            return False
        if script:
            self.used_scripts.add(script)
        return True


def ending(path):
    """What follows the last dot of the file name, path parameters left out; a name has something before it."""
    stem, dot, last = path.rsplit("/", 1)[-1].split(";")[0].rpartition(".")
    return last.lower() if dot and stem else None


def repeats_itself(path):
    """Whether a group of one to three segments stands more than three times in a row."""
    parts = [part for part in path.split("/") if part]
    for length in (1, 2, 3):
        for at in range(len(parts) - 4 * length + 1):
            group = parts[at : at + length]
            rounds = [parts[at + n * length : at + (n + 1) * length] for n in range(4)]
            if rounds == [group] * 4 and any(c.isalpha() for c in "".join(group)):
                return True
    return len(parts) > 30
