"""URLs as the WHATWG standard reads them, as far as http and https need it.

Written from the standards for this test, and apart from the crawler's own code: a mistake would
have to be made twice to pass.
"""

import re

SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
DEFAULT_PORTS = {"http": "80", "https": "443"}
# Percent-encode sets of the URL standard, beside controls and all that is not ASCII.
IN_PATH = ' "#<>?`{}^'
IN_QUERY = " \"#<>'"
LONGEST_URL = 2048  # what a survey keeps: the limit of the sitemap protocol


def parse(reference, base=None):
    """Resolves a reference: (scheme, authority, path, query or None), or None if it is no Web page."""
    text = re.sub(r"[\t\n\r]", "", reference.strip("".join(map(chr, range(33)))))
    text = text.split("#", 1)[0]
    scheme = SCHEME.match(text)
    if scheme:
        name = scheme[1].lower()
        if name not in DEFAULT_PORTS:
            return None
        text = text[scheme.end() :]
        if base and base[0] == name and not text.replace("\\", "/").startswith("/"):
            pass  # "http:page" is relative to an http page
        else:
            return absolute(name, text.replace("\\", "/").lstrip("/"))
    if base is None:
        return None
    return relative(text, base)


def absolute(scheme, rest):
    end = re.search(r"[/?]", rest)
    at = end.start() if end else len(rest)
    authority = host_and_port(scheme, rest[:at])
    if authority is None:
        return None
    path, query = split_query(rest[at:])
    return whole(scheme, authority, clean_path(path or "/"), query)


def relative(text, base):
    scheme, authority, base_path, base_query = base
    path, query = split_query(text)
    if path.startswith("//"):
        return absolute(scheme, text.replace("\\", "/").lstrip("/"))
    if not path:
        return whole(scheme, authority, base_path, base_query if query is None else query)
    if not path.startswith("/"):
        path = base_path.rsplit("/", 1)[0] + "/" + path
    return whole(scheme, authority, clean_path(path), query)


def whole(scheme, authority, path, query):
    url = (scheme, authority, path, query)
    return url if len(spelled(url)) <= LONGEST_URL else None


def split_query(text):
    path, mark, query = text.partition("?")
    return path.replace("\\", "/"), escape(query, IN_QUERY) if mark else None


def clean_path(path):
    """Without dot segments; every other segment stays, empty ones too."""
    kept = []
    segments = path.split("/")[1:]
    for number, segment in enumerate(segments):
        is_last = number == len(segments) - 1
        plain = re.sub("%2e", ".", segment, flags=re.I)
        if plain == "..":
            kept = kept[:-1]
        elif plain != ".":
            kept.append(escape(segment, IN_PATH))
            continue
        if is_last:
            kept.append("")
    return "/" + "/".join(kept)


def host_and_port(scheme, text):
    host, _colon, port = text.rpartition("@")[2].partition(":")
    try:
        host = host.rstrip(".").encode("idna").decode().lower()
    except UnicodeError:
        return None
    if not re.fullmatch(r"[a-z0-9_\-]+(\.[a-z0-9_\-]+)*", host) or not re.fullmatch(r"\d*", port):
        return None
    port = port.lstrip("0")
    return host if not port or port == DEFAULT_PORTS[scheme] else f"{host}:{port}"


def escape(text, characters):
    return "".join(
        "".join(f"%{byte:02X}" for byte in c.encode("utf-8", "replace")) if c in characters or not " " < c < "\x7f" else c for c in text
    )


def spelled(url):
    scheme, authority, path, query = url
    return f"{scheme}://{authority}{path}" + ("" if query is None else f"?{query}")


def identity(url):
    """What makes two URLs the same page: no scheme, percent-encoding normalised (RFC 3986 §6.2.2)."""

    def normal(match):
        c = chr(int(match[1], 16))
        return c if re.match(r"[A-Za-z0-9\-._~]", c) else match[0].upper()

    target = spelled(url).split("://", 1)[1]
    target = re.sub(r"%(?![0-9A-Fa-f]{2})", "%25", target)
    return re.sub(r"%([0-9A-Fa-f]{2})", normal, target)


def script(url):
    """The identity of the script that a query URL asks; None for other URLs."""
    scheme, authority, path, query = url
    if query is None and ";" not in path:
        return None
    bare = "/".join(segment.split(";")[0] for segment in path.split("/"))
    return identity((scheme, authority, bare, None))
