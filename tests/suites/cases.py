"""One case of a suite: the response that a server sends for a front page, and what a survey must record of it."""

import html
from typing import NamedTuple

# The host of case N is `cN.ke`: a site of its own, with an address of its own.
DOMAIN = "ke"
# The URL of a case, before its number is known.
URL = "http://{host}/"
OURS = "ours, from the text of the standard"


class Case(NamedTuple):
    """`expected` holds only what the suite speaks of, by the names that `surveying.Seen` has."""

    suite: str
    # The package that it is from, or whose it is.
    source: str
    name: str
    # What of the input a reader of the report is shown.
    shown: str
    response: bytes
    expected: dict

    def answer(self, host):
        """The response, with the host of the case where the text {host} stands."""
        return self.response.replace(b"{host}", host.encode())


def host_of(number):
    return f"c{number}.{DOMAIN}"


def number_of(host):
    """The case that a host name is of; none where it is of no case."""
    name = host.split(":")[0].lower().removesuffix(f".{DOMAIN}")
    return int(name[1:]) if name.startswith("c") and name[1:].isdigit() else None


def page(body, content_type: str | None = "text/html; charset=utf-8"):
    """A plain response with this body."""
    body = body if isinstance(body, bytes) else body.encode()
    fields = [f"Content-Length: {len(body)}"] + ([f"Content-Type: {content_type}"] if content_type is not None else [])
    return ("HTTP/1.1 200 OK\r\n" + "\r\n".join(fields) + "\r\n\r\n").encode("latin-1") + body


def attribute(text):
    """A text as the value of an attribute between double quotes; what no reference can stand for stays as it is."""
    return html.escape(text).replace("\r", "&#13;").replace("\n", "&#10;").replace("\t", "&#9;")


def link(reference):
    return f'<a href="{attribute(reference)}">x</a>'


def is_scalar(text):
    """Whether the text can be sent in UTF-8: lone surrogates cannot."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)
