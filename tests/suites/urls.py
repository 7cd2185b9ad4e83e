"""URLs: WPT's urltestdata as links of pages, toascii and IdnaTestV2 as hosts of links, percent-encoding as queries on
pages in other charsets."""

import json
import re

import pywhatwgurl
from cases import Case, attribute, is_scalar, link, page
from judging import REFUSED_PORTS
from packages import ADA_URL, URL

WPT = "tests/wpt"
# A reference with a scheme of its own. What the URL parser strips off before it looks stands before it.
ABSOLUTE = re.compile(r"[\x00-\x20]*[A-Za-z][A-Za-z0-9+.\-\t\r\n]*:")
OTHER_BASE = {"http:": "https://other.ke/", "https:": "http://other.ke/"}
# Reserved for uses that are no Web site; a path so that the host alone is what differs.
TAIL = "/x"


def cases():
    yield from references("WPT urltestdata", ADA_URL, f"{WPT}/urltestdata.json")
    yield from references("WPT urltestdata, as the crate url has it", URL, "tests/urltestdata.json")
    for file in ("toascii", "IdnaTestV2"):
        yield from hosts(f"WPT {file}", f"{WPT}/{file}.json")
    yield from queries()


def tests(package, file):
    return [test for test in json.loads(package.text(file).decode("utf-8", "surrogatepass")) if isinstance(test, dict)]


def references(suite, package, file):
    for number, test in enumerate(tests(package, file), 1):
        base = test.get("base") if test.get("base") != "about:blank" else None
        reference = test["input"]
        if not is_scalar(reference + (base or "")) or "\0" in reference + (base or ""):
            continue  # HTML can hold neither.
        if base is None:
            if not ABSOLUTE.match(reference):
                continue  # A page always has a base.
            base = base_without_part(reference)
        elif base_is_ignored(base):
            continue
        source = f'<base href="{attribute(base)}">{link(reference)}'
        yield Case(
            suite,
            str(package),
            f"{number}",
            f"{reference!r} on {base!r}",
            page(source),
            {"links": recorded(test.get("href"))},
        )


def base_without_part(reference):
    """`http:x` is seen from a base of the same scheme only; without a base it is absolute."""
    scheme = re.sub(r"[\x00-\x20]", "", reference.split(":")[0]).lower() + ":"
    return OTHER_BASE.get(scheme, OTHER_BASE["http:"])


def base_is_ignored(base):
    """HTML passes over such a base, so that the reference is not seen from it."""
    return base.lower().startswith(("data:", "javascript:"))


def recorded(href):
    """What of a result a survey records: Web URLs at ports that browsers ask, without fragment and credentials."""
    if not href:
        return []
    url = pywhatwgurl.URL(href)
    if url.protocol not in ("http:", "https:") or (url.port and int(url.port) in REFUSED_PORTS):
        return []
    head, authority, tail = re.match(r"(https?://)([^/?#]*)([^#]*)", href).groups()
    return [head + authority.rpartition("@")[2] + tail]


def hosts(suite, file):
    for number, test in enumerate(tests(ADA_URL, file), 1):
        name = test["input"]
        if not name or not is_scalar(name) or "\0" in name:
            continue
        expected = [f"http://{test['output']}{TAIL}"] if test["output"] else []
        yield Case(suite, str(ADA_URL), f"{number}", repr(name), page(link(f"http://{name}{TAIL}")), {"links": expected})


def queries():
    """Letters are written as references, so that any page can hold them."""
    for number, test in enumerate(tests(ADA_URL, f"{WPT}/percent-encoding.json"), 1):
        text = "".join(letter if letter.isascii() and letter.isprintable() else f"&#{ord(letter)};" for letter in test["input"])
        for charset, encoded in test["output"].items():
            source = f'<a href="http://other.ke/?{text}">x</a>'
            yield Case(
                "WPT percent-encoding",
                str(ADA_URL),
                f"{number}, {charset}",
                f"{test['input']!r} in {charset}",
                page(source, f"text/html; charset={charset}"),
                {"links": [f"http://other.ke/?{encoded}"]},
            )
