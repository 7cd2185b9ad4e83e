"""Tree construction tests: the links and the title of each expected tree, and of the inputs with links planted."""

import hashlib
import re

from cases import URL, Case, is_scalar, page
from judging import Element, document_of, judged
from packages import HTML5LIB, JUDGE, JUSTHTML

# Suites in the format of html5lib: their name, their package and the folder in it.
SUITES = (
    ("html5lib trees", HTML5LIB, "html5rdf/tests/testdata/tree-construction"),
    ("justhtml trees", JUSTHTML, "tests/justhtml-tests"),
)
# The ends of a section of a test.
SECTION = re.compile(r"(?m)^#(data|errors|new-errors|document-fragment|script-off|script-on|xml-coercion|iframe-srcdoc|document)\n")
# Tests of fragments, of what scripts see and of what a parser hands to XML tools.
NO_PAGES = {"document-fragment", "script-on", "xml-coercion", "iframe-srcdoc"}
NODE = re.compile(r"^\| ( *)(.*)$", re.DOTALL)
ELEMENT = re.compile(r"^<(?:(svg|math) )?([^!?].*)>$", re.DOTALL)
ATTRIBUTE = re.compile(r'^([^"<]+)="(.*)"$', re.DOTALL)


def cases():
    """Each test as it is, then with links planted."""
    for suite, package, folder in SUITES:
        for name, source, tree in tests(package, folder):
            yield tree_case(suite, package, name, source, tree)
        for name, source, _ in tests(package, folder):
            yield from planted_cases(suite, package, name, source)
        yield from mixed_cases(suite, package, [source for _, source, _ in tests(package, folder)])


def mixed_cases(suite, package, sources):
    """Two or three of the inputs in one page, with a link behind each."""
    for number in range(len(sources)):
        chosen = [sources[drawn(f"{number} {place}", len(sources))] for place in range(2 + number % 2)]
        text = "".join(source + planted_link(place) for place, source in enumerate(chosen))
        yield judged_case(f"{suite}, mixed", package, f"{number}", text)


def drawn(name, count):
    """A number below `count`, the same on every machine."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") % count


def tree_case(suite, package, name, source, tree):
    return page_case(suite, str(package), name, source, document_of(elements_of(tree), URL))


def planted_cases(suite, package, name, source):
    for way, planted in (
        ("behind", source + planted_link(0)),
        ("before tags", before_tags(source)),
        ("behind tags", behind_tags(source)),
    ):
        yield judged_case(f"{suite}, links planted", package, f"{name}, {way}", planted)


def judged_case(suite, package, name, source):
    """A page whose links and title the other parser tells."""
    return page_case(suite, f"{package}, judged by {JUDGE}", name, source, judged(source, URL))


def page_case(suite, source, name, text, document):
    return Case(suite, source, name, text, page(text), {"links": document.links, "title": document.title})


def planted_link(number):
    return f'<a href="/planted{number}">x</a>'


def before_tags(source):
    pieces = source.split("<")
    return pieces[0] + "".join(planted_link(number) + "<" + piece for number, piece in enumerate(pieces[1:]))


def behind_tags(source):
    pieces = source.split(">")
    return "".join(piece + ">" + planted_link(number) for number, piece in enumerate(pieces[:-1])) + pieces[-1]


def tests(package, folder):
    """Name, input and expected tree of every whole document that is read without scripts."""
    for file, text in package.texts(folder).items():
        if not file.endswith(".dat") or "/" in file:
            continue
        for number, test in enumerate(re.split(r"\n\n(?=#data\n)", text.decode()), 1):
            parts = sections(test)
            source = unescaped(parts["data"]) if package is JUSTHTML else parts["data"]
            if not NO_PAGES & set(parts) and is_scalar(source):
                yield f"{file}:{number}", source, parts["document"]


def unescaped(text):
    """justhtml's own tests spell control characters."""
    return re.sub(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4}))", lambda found: chr(int(found[1] or found[2], 16)), text)


def sections(test):
    pieces = SECTION.split(test)
    return {name: text.removesuffix("\n") for name, text in zip(pieces[1::2], pieces[2::2])}


def elements_of(tree):
    """The elements of an expected tree; what stands in templates is left out."""
    nodes = [NODE.match(node) for node in re.split(r"\n(?=\| )", tree)]
    lines = [(len(node[1]) // 2, node[2]) for node in nodes if node]
    inert = None  # How deep the contents of a template stand.
    for at, (depth, line) in enumerate(lines):
        if inert is not None and depth >= inert:
            continue
        inert = None
        if line == "content":
            inert = depth
        elif found := ELEMENT.match(line):
            yield element(found[1] or "html", found[2], depth, lines[at + 1 :])


def element(namespace, name, depth, below):
    attributes, text = {}, ""
    for inner, line in below:
        if inner <= depth:
            break
        if inner == depth + 1 and line.startswith('"'):
            text += line[1:-1]
        elif inner == depth + 1 and (found := ATTRIBUTE.match(line)):
            attributes[found[1].replace("xlink ", "xlink:")] = found[2]
    return Element(namespace, name, attributes, text)


def judge_differs():
    """Tests at which the other parser does not find the links and the title of the suite's tree, with both."""
    for _, package, folder in SUITES:
        for name, source, tree in tests(package, folder):
            told, found = document_of(elements_of(tree), URL), judged(source, URL)
            if told != found:
                yield name, told, found
