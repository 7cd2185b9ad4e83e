"""What a page links to, read by lxml: libxml2's HTML parser, which shares nothing with ours."""

import re
from dataclasses import dataclass

import lxml.html
import urls

# What stands in for frames where there are none, and what is text and no markup.
NOT_SHOWN = {"noframes", "iframe", "noembed", "template", "textarea", "xmp", "title"}
SOURCES = {"a": "href", "area": "href", "frame": "src", "iframe": "src"}
OTHER_SCHEME = re.compile(r"\s*(?!https?:)[A-Za-z][A-Za-z0-9+.\-]*:", re.I)


@dataclass
class Link:
    url: tuple
    nofollow: bool


def links(body, page_url):
    """The links of a page in the order of the document, each page once."""
    if not body.strip():
        return []
    # libxml2 stops at 256 nested elements unless it is told otherwise; a text with <names> in it,
    # which Apache sends without a type, nests deeper.
    parser = lxml.html.HTMLParser(huge_tree=True)
    root = lxml.html.document_fromstring(body, parser=parser)
    base = base_of(root, page_url)
    shunned = page_says_nofollow(root)
    found = {}
    for reference, nofollow in references(root):
        url = urls.parse(reference, base)
        if url is None or is_place_in(reference, url, page_url):
            continue
        link = found.setdefault(urls.identity(url), Link(url, True))
        link.nofollow &= nofollow or shunned
    return list(found.values())


def references(root):
    for element in root.iter("a", "area", "frame", "iframe", "meta"):
        if any(ancestor.tag in NOT_SHOWN for ancestor in element.iterancestors()):
            continue
        reference = refresh(element) if element.tag == "meta" else element.get(SOURCES[element.tag])
        if reference is None or OTHER_SCHEME.match(reference):
            continue
        if not reference.strip() and element.tag in ("frame", "iframe"):
            continue
        yield reference, "nofollow" in element.get("rel", "").lower().split()


def refresh(meta):
    if meta.get("http-equiv", "").strip().lower() != "refresh":
        return None
    match = re.match(r"\s*[\d.]+\s*[;,\s]\s*(?:url\s*=\s*)?(.+)", meta.get("content", ""), re.I | re.S)
    return match and match[1].strip().strip("'\"")


def base_of(root, page_url):
    for base in root.iter("base"):
        if base.get("href") is not None:
            return urls.parse(base.get("href"), page_url) or page_url
    return page_url


def page_says_nofollow(root):
    robots = [m for m in root.iter("meta") if m.get("name", "").strip().lower() in ("robots", "ccsurvey")]
    words = " ".join(meta.get("content", "") for meta in robots).lower()
    return bool({"nofollow", "none"} & set(re.split(r"[\s,;]+", words)))


def is_place_in(reference, url, page_url):
    """`#top` names no page but a place in this one."""
    within = not reference.strip() or reference.strip().startswith("#")
    return within and urls.identity(url) == urls.identity(page_url)
