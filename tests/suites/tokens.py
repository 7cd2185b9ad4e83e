"""html5lib's tokenizer tests: each input as text in its state, in the value of an attribute, a title and a tag."""

import json
import re

from cases import is_scalar
from judging import shown_title
from packages import HTML5LIB
from trees import judged_case

SUITE = "html5lib tokenizer"
FOLDER = "html5rdf/tests/testdata/tokenizer"
BEHIND = '<a href="/behind">x</a>'
# What brings a parser into a state in which a test begins.
BEFORE = {
    "Data state": "",
    "PLAINTEXT state": "<plaintext>",
    "RCDATA state": "<title>",
    "RAWTEXT state": "<xmp>",
    "Script data state": "<script>",
    "CDATA section state": "<svg><![CDATA[",
}


def cases():
    for name, test in tests():
        source = unescaped(test["input"]) if test.get("doubleEscaped") else test["input"]
        if not is_scalar(source):
            continue
        for state in test.get("initialStates", ["Data state"]):
            yield judged_case(f"{SUITE}, as text", HTML5LIB, f"{name}, {state}", BEFORE[state] + source + BEHIND)
        quoted = source.replace('"', "&quot;")
        yield judged_case(f"{SUITE}, in a value", HTML5LIB, name, f'<a href="/in?{quoted}">x</a>{BEHIND}')
        yield judged_case(f"{SUITE}, in an open tag", HTML5LIB, name, f"<a href=/in {source}>x</a>{BEHIND}")
        yield title_case(name, test, source)


def title_case(name, test, source):
    """The suite itself says what a title holds whose text has no markup; the other parser does for the rest."""
    case = judged_case(f"{SUITE}, in a title", HTML5LIB, name, f"<title>{source}</title>{BEHIND}")
    text = characters(test)
    if text is not None and "<" not in source and "\0" not in source:
        return case._replace(expected={**case.expected, "title": shown_title(text)})
    return case


def characters(test):
    """The text of a test in the data state whose tokens are all text."""
    output = test["output"]
    if test.get("initialStates", ["Data state"])[0] != "Data state" or any(token[0] != "Character" for token in output):
        return None
    text = "".join(token[1] for token in output)
    text = unescaped(text) if test.get("doubleEscaped") else text
    return text if is_scalar(text) else None


def tests():
    for file, text in HTML5LIB.texts(FOLDER).items():
        # xmlViolation.test speaks of what a parser hands to XML tools.
        if file.endswith(".test"):
            for number, test in enumerate(json.loads(text).get("tests", []), 1):
                yield f"{file}:{number}", test


def unescaped(text):
    return re.sub(r"\\u([0-9A-Fa-f]{4})", lambda found: chr(int(found[1], 16)), text)
