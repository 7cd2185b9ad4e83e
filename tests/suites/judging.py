"""What a document links to, by the standards: from a suite's expected tree, or from the tree of another parser.

That parser is justhtml; `trees.judge_differs` compares it with every tree of the suites. URLs are resolved by pywhatwgurl.
"""

import functools
from typing import NamedTuple

import justhtml
import pywhatwgurl
from refreshing import refresh_target

# Fetch standard, "port blocking": browsers ask none of these.
# fmt: off
REFUSED_PORTS = {
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103,
    104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514,
    515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723,
    2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
}
# fmt: on
# Elements of HTML that lead to a page, and the attribute that says where.
REFERENCES = {"a": "href", "area": "href", "frame": "src", "iframe": "src"}
SPACE = " \t\n\r\f"


class Element(NamedTuple):
    """An element that is in the document and not in a template, in document order."""

    namespace: str
    name: str
    attributes: dict
    # Of its own text nodes; none where nobody asks for it.
    text: str | None


class Document(NamedTuple):
    links: list
    title: str | None


def document_of(elements, url):
    """The links of a document, each page once and the document itself left out, and its title."""
    elements = list(elements)
    bases = [element.attributes["href"] for element in elements if is_html(element, "base") and "href" in element.attributes]
    base = base_url(bases[0], url) if bases else url
    titles = [element.text for element in elements if is_html(element, "title")]
    references = [reference for element in elements for reference in references_of(element)]
    return Document(
        distinct((canonical(reference, base) for reference in references), url),
        shown_title(titles[0]) if titles else None,
    )


def is_html(element, name):
    return element.namespace == "html" and element.name == name


def references_of(element):
    attributes = element.attributes
    if element.namespace == "svg" and element.name == "a":
        # SVG 2: `href` wins over `xlink:href`.
        found = attributes.get("href", attributes.get("xlink:href"))
    elif element.namespace != "html":
        return
    elif element.name == "meta":
        is_refresh = attributes.get("http-equiv", "").lower() == "refresh"
        found = refresh_target(attributes.get("content", "")) if is_refresh else None
    else:
        found = attributes.get(REFERENCES.get(element.name, ""))
        if element.name in ("frame", "iframe") and not (found or "").strip(SPACE):
            return
        if element.name == "iframe" and "srcdoc" in attributes:
            return
    if found is not None:
        yield found


def base_url(reference, url):
    """HTML standard, "set the frozen base URL": no URL, or one of `data:` or `javascript:`, does not count."""
    try:
        base = pywhatwgurl.URL(reference, url)
    except ValueError:
        return url
    return url if base.protocol in ("data:", "javascript:") else base.href


@functools.lru_cache(maxsize=100_000)
def canonical(reference, base):
    """Where a reference leads, as a survey records it: without fragment and credentials; none if to no Web page."""
    try:
        url = pywhatwgurl.URL(reference, base)
    except ValueError:
        return None
    if url.protocol not in ("http:", "https:") or (url.port and int(url.port) in REFUSED_PORTS):
        return None
    url.hash = url.username = url.password = ""
    return url.href


def page_key(url):
    """http and https are one page."""
    return url.removeprefix("https").removeprefix("http")


def distinct(urls, own):
    kept = {}
    for url in urls:
        if url is not None and page_key(url) != page_key(own):
            kept.setdefault(page_key(url), url)
    return list(kept.values())


def shown_title(text):
    """As the column `title` has it: white space collapsed, 512 characters at most; none when empty."""
    text = "".join(" " if letter <= " " or letter == "\x7f" else letter for letter in text or "")
    return " ".join(filter(None, text.split(" ")))[:512].rstrip() or None


def judged(source, url):
    """What a page of this source links to, by the other parser, without scripts."""
    return document_of(elements_of(justhtml.JustHTML(source, sanitize=False, scripting_enabled=False).root), url)


def elements_of(root):
    """Its elements in document order; without calling itself, for pages may nest deeply."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        children = getattr(node, "children", None) or []
        if node.name and node.name[0] not in "#!":
            text = "".join(child.data for child in children if child.name == "#text") if node.name == "title" else None
            attributes = {name: value or "" for name, value in (node.attrs or {}).items()}
            yield Element(node.namespace, node.name, attributes, text)
        waiting.extend(reversed(children))
