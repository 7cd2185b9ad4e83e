"""Media types: WPT's mimesniff tests in one field, our own of several fields (Fetch, "extract a MIME type")."""

import json
import pathlib

from cases import OURS, Case
from packages import DATA_URL

HTML = ("text/html", "application/xhtml+xml")
BODY = b'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>t</title></head><body><a href="/in">x</a></body></html>'
LINKS = ["http://{host}/in"]
OWN = pathlib.Path(__file__).with_name("own") / "content-types.json"


def cases():
    for suite, file in (
        ("WPT mimesniff", "mime-types.json"),
        ("WPT mimesniff, generated", "generated-mime-types.json"),
    ):
        tests = [test for test in json.loads(DATA_URL.text(f"tests/{file}")) if isinstance(test, dict)]
        for number, test in enumerate(tests, 1):
            # A field holds none of these (RFC 9110 §5.5): the HTTP suites look at that.
            if all(letter == "\t" or (" " <= letter <= "\xff" and letter != "\x7f") for letter in test["input"]):
                yield one_field(suite, f"{number}", test)
    yield from several_fields()


def one_field(suite, name, test):
    expected = read_as(test["output"])
    if test.get("encoding") and expected["is_read"] and is_html(test["output"]):
        expected["charset"] = test["encoding"]
    return Case(suite, str(DATA_URL), name, repr(test["input"]), response([test["input"]]), expected)


def several_fields():
    for number, test in enumerate(json.loads(OWN.read_text())["cases"], 1):
        expected = read_as(test["type"])
        if test["charset"] and expected["is_read"]:
            expected["charset"] = test["charset"]
        yield Case("own: types in several fields", OURS, f"{number}", repr(test["fields"]), response(test["fields"]), expected)
        joined = ", ".join(test["fields"])
        yield Case("own: types joined by commas", OURS, f"{number}", repr(joined), response([joined]), expected)


def is_html(output):
    return output is not None and output.split(";")[0] in HTML


def read_as(output):
    """Whether the body, XHTML by its look, is a page: as its type says, or by sniffing where there is no usable type.

    XML with the root of XHTML is a page as well: browsers follow its links.
    """
    essence = (output or "").split(";")[0]
    is_xml = essence in ("text/xml", "application/xml") or essence.endswith("+xml")
    is_page = essence in ("", "*/*", "unknown/unknown", "application/unknown", *HTML) or is_xml
    return {"is_read": is_page, "links": LINKS if is_page else []}


def response(types):
    fields = [
        f"Content-Length: {len(BODY)}".encode(),
        *(b"Content-Type: " + value.encode("latin-1") for value in types),
    ]
    return b"HTTP/1.1 200 OK\r\n" + b"\r\n".join(fields) + b"\r\n\r\n" + BODY
