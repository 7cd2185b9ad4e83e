//! Pieces of markup that begin or end a state of the tokenizer, or an element with its own reading rules.
//! Tests and fuzzing use bodies that repeat and mix them.

/// In the order of the states in WHATWG HTML §13.2.5.
#[rustfmt::skip]
pub(crate) const FRAGMENTS: [&str; 173] = [
    // Text, and bytes whose decoded form is longer or shorter.
    "a", "a ", " ", "\n", "\t", "\r", "\r\n", "\x0c", "\0", "é", "日本", "\u{fffd}", "\u{feff}", "\u{1b}$B", "\u{1b}(B", "0,",
    // Tags.
    "<", "<a", "<a ", "<a>", "<a/>", "<p>", "<div><b>", "<A HREF=X>", "</", "</a", "</a ", "</a>", "</a/", "</>", "</1>",
    "<1", ">", "/", "/>", "/a",
    // Attributes.
    " a", " a=", " a=b", " a=b/", " a=b>", " a=''", " a='b'", " a='", " a=\"\"", " a=\"b\"", " a=\"", "\na=\"\"", "\t\r\na=\"b\"",
    "a=\"\"\x0c", "a=\"\"", "\"\"", "=", "==", " =\"\" ", "'", "\"", "\" ", "\"a", "\"/", "\">", "\"\0", "`", "<a b=\"c\" d=\"e\">",
    "</a b=\"c\" d=\"e\">",
    // Comments and markup that is read as one.
    "<!", "<!-", "<!--", "<!-->", "<!--->", "<!-- -->", "<!--a--!>", "-->", "--!>", "--!", "--", "-", "<!--<!", "<!--<!-", "<!--<!--",
    "<?", "<?a?>", "<!a>", "</ >",
    // Doctypes.
    "<!doctype", "<!DOCTYPE html>", "<!doctype a", " PUBLIC", " public \"", " PUBLIC 'a' \"b\"", " SYSTEM", " system \"a\"",
    "<!doctype a public \"b\" \"c\" d>", "<!doctype>",
    // CDATA.
    "<![CDATA[", "<![CDATA[a]]>", "]", "]]", "]]>", "<svg><![CDATA[", "<![cdata[",
    // Character references.
    "&", "&;", "&a", "&am", "&amp", "&amp;", "&ampx", "&no", "&notit;", "&CounterClockwiseContourIntegral;", "&CounterClockwiseContour",
    "&#", "&#;", "&#x", "&#9", "&#9;", "&#x41;", "&#x110000;", "&#99999999999", "a=\"&amp;\" ", "a=\"&am\" ", "a='&' ",
    // Elements whose text is not markup.
    "<script>", "</script>", "</script", "</scrip", "<script><!--", "<script><!--<script>", "<!--<script>", "--></script>", "<style>",
    "</style>", "<title>", "</title>", "</titl", "<textarea>", "</textarea>", "<xmp>", "<iframe>", "<noframes>", "<plaintext>",
    "<noscript>",
    // Elements that are more than a tag.
    "<svg>", "</svg>", "<math>", "<template>", "</template>", "<base href=a/>", "<a href=\"b\">", "<frame src=c>",
    "<meta charset=\"x\">", "<meta http-equiv=refresh content='0;url=x'>", "<meta name=robots content=\"none\">", "<html lang=\"sw\">",
    // Tags that end foreign content, and tags that do not.
    "<desc>", "</desc>", "<foreignObject>", "</foreignObject>", "<mi>", "<annotation-xml encoding=text/html>", "<g>", "</g>", "</p>",
    "</br>", "<font color=a>", "<frameset>", "</frameset>", "<table>", "<td>", "</table>", "<a xlink:href=\"d\"/>",
    "<iframe srcdoc=\"<a href=e>\">",
];

/// Openings before the fragments: each leaves the page in a state that plain text does not end.
#[rustfmt::skip]
pub(crate) const OPENINGS: [&str; 14] = [
    "", "<p ", "<p a=", "<p a='", "<p a=\"", "<p a=\"\"", "</p ", "<!--", "<!doctype ", "<svg><![CDATA[", "<script>", "<script><!--", "<style>",
    "<title>",
];
