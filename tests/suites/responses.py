"""HTTP/1 responses: llhttp's tests of responses, and our own of Content-Length (Fetch, "extract a length")."""

import json
import pathlib
import re

from cases import OURS, Case
from packages import LLHTTP

SUITE = "llhttp responses"
FOLDER = "vendor/llhttp/test/response"
TEST = re.compile(
    r"\n#+ (?P<title>[^\n]*)\n(?:(?!\n#).)*?<!-- meta=(?P<meta>\{.*?\}) -->\n```http\n(?P<input>.*?)\n```\n\n```log\n(?P<log>.*?)\n```",
    re.DOTALL,
)
STATUS = re.compile(r"headers complete status=(\d+)")
BODY = re.compile(r"len=(\d+) span\[body\]")
OK_LINE = re.compile(rb"(?:\r\n)?HTTP/1\.\d 200 [^\r\n]*\r\n")
OWN = pathlib.Path(__file__).with_name("own") / "content-lengths.json"
# The first link ends before byte 40 of the body, the second one begins behind it.
BODY_OF_LENGTHS = b'<p><a href="/first">x</a></p>' + b"." * 20 + b'<a href="/second">x</a>'
FIRST, SECOND = "http://{host}/first", "http://{host}/second"


def cases():
    for file, text in LLHTTP.texts(FOLDER).items():
        for number, test in enumerate(TEST.finditer(text.decode()), 1):
            meta = json.loads(test["meta"])
            # It takes the response for one to HEAD, which a front page never is.
            if not meta.get("skipBody"):
                yield llhttp_case(f"{file}:{number} {meta['type']}", test)
    yield from lengths()


def llhttp_case(name, test):
    response = typed(sent(test["input"]))
    return Case(
        SUITE,
        f"{LLHTTP} (its vendored llhttp)",
        name,
        f"{test['title']}: {response!r}",
        response,
        logged(test["log"].split("\n"), response),
    )


def sent(text):
    """The bytes of an input, as llhttp's md-test.ts makes them."""
    text = re.sub(r"\\\n", "", text).replace("\n", "\r\n")
    for escaped, letter in (("\\r", "\r"), ("\\n", "\n"), ("\\t", "\t"), ("\\f", "\f")):
        text = text.replace(escaped, letter)
    text = re.sub(r"\\x([0-9a-fA-F]+)", lambda found: chr(int(found[1], 16)), text)
    text = re.sub(r"\\([0-7]{1,3})", lambda found: chr(int(found[1], 8)), text)
    return text.encode()


def typed(response):
    """Says that a body is HTML where nothing is said: else a survey does not read what looks like plain text."""
    line = OK_LINE.match(response)
    if not line or b"content-type:" in response.lower():
        return response
    return line[0] + b"Content-Type: text/html\r\n" + response[line.end() :]


def logged(lines, response):
    """What llhttp found: the status of the final response, whether it failed, and the bytes of a page."""
    status, length, is_whole = None, 0, False
    for line in lines:
        if found := STATUS.search(line):
            status, length = int(found[1]), 0
        elif found := BODY.search(line):
            length += int(found[1])
        elif "error code" in line:
            # What is no response at all has no status.
            return {"status": status, "fails": True}
        elif "message complete" in line and is_final(status):
            is_whole = True
            break
    # An input that ends before its message does is no whole response.
    expected = {"status": status, "fails": False} if is_whole or not is_delimited(response) else {"status": status}
    if status == 200 and is_page(response):
        expected["body_bytes"] = length
    return expected


def is_final(status):
    return status is not None and (status >= 200 or status == 101)


def is_delimited(response):
    """Whether the response says where it ends."""
    return re.search(rb"(?im)^(content-length|transfer-encoding):", response) is not None


def is_page(response):
    """Whether the head of the first message, the only one that is looked at, says HTML."""
    return b"content-type: text/html" in response.lower().split(b"\r\n\r\n")[0]


def lengths():
    for number, test in enumerate(json.loads(OWN.read_text())["cases"], 1):
        fields = b"".join(b"Content-Length: " + value.encode("latin-1") + b"\r\n" for value in test["fields"])
        response = b"HTTP/1.1 200 OK\r\n" + fields + b"Content-Type: text/html; charset=utf-8\r\n\r\n" + BODY_OF_LENGTHS
        expected = {
            "whole": {"links": [FIRST, SECOND]},
            "cut": {"links": [FIRST], "fails": False},
            "short": {"links": [FIRST, SECOND], "fails": True},
            "error": {"links": [], "fails": True},
        }[test["read"]]
        yield Case("own: Content-Length", OURS, f"{number}", repr(test["fields"]), response, expected)
