use encoding_rs::{EUC_JP, Encoding, ISO_2022_JP, SHIFT_JIS, UTF_8, WINDOWS_1252, WINDOWS_1256};

use crate::World;
use crate::draw::{Draw, Key, by_share};
use crate::settings::byte_sections::Pages;

/// The encoding of a page's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Charset {
    Utf8,
    Latin1,
    Windows1252,
    Windows1256,
    ShiftJis,
    EucJp,
    Iso2022Jp,
}

/// The charsets that a site uses, and where it declares them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Writing {
    /// Charset of titles and headings.
    pub title: Charset,
    /// Charset of all other text.
    pub text: Charset,
    /// Where the charset is declared, on pages that declare one; none if the site declares none.
    pub place: Option<CharsetPlace>,
}

/// Where a page declares its charset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CharsetPlace {
    Header,
    Meta,
    Both,
}

impl Charset {
    pub(crate) const ALL: [Self; 7] = [
        Self::Utf8,
        Self::Latin1,
        Self::Windows1252,
        Self::Windows1256,
        Self::ShiftJis,
        Self::EucJp,
        Self::Iso2022Jp,
    ];

    /// The charsets with shares of their own; the rest is ISO-8859-1.
    pub(crate) fn shares(pages: &Pages) -> [(f64, Self); 6] {
        let [utf8, windows_1252, windows_1256, shift_jis, euc_jp, iso_2022_jp] = pages.charset_shares();
        [
            (utf8, Self::Utf8),
            (windows_1252, Self::Windows1252),
            (windows_1256, Self::Windows1256),
            (shift_jis, Self::ShiftJis),
            (euc_jp, Self::EucJp),
            (iso_2022_jp, Self::Iso2022Jp),
        ]
    }

    /// The encoding. ISO-8859-1 on the Web means windows-1252 (WHATWG Encoding §4.2).
    pub(crate) fn encoding(self) -> &'static Encoding {
        match self {
            Self::Utf8 => UTF_8,
            Self::Latin1 | Self::Windows1252 => WINDOWS_1252,
            Self::Windows1256 => WINDOWS_1256,
            Self::ShiftJis => SHIFT_JIS,
            Self::EucJp => EUC_JP,
            Self::Iso2022Jp => ISO_2022_JP,
        }
    }

    /// The name in declarations.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Latin1 => "ISO-8859-1",
            Self::Windows1252 => "windows-1252",
            Self::Windows1256 => "windows-1256",
            Self::ShiftJis => "Shift_JIS",
            Self::EucJp => "EUC-JP",
            Self::Iso2022Jp => "ISO-2022-JP",
        }
    }

    /// A charset with another encoding.
    pub(crate) fn misread_as(self, draw: Draw) -> Self {
        let others = || Self::ALL.into_iter().filter(|other| other.encoding() != self.encoding());
        let index = usize::try_from(draw.below(others().count() as u64)).unwrap_or(0);
        others().nth(index).unwrap_or(self)
    }
}

impl Writing {
    pub(crate) fn new(world: &World, site: Key) -> Self {
        let pages = &world.pages;
        let place = Some(*site.draw("charset declared").pick(&[
            CharsetPlace::Header,
            CharsetPlace::Meta,
            CharsetPlace::Both,
        ]));
        let is_mixed = [(pages.undeclared_share, false), (pages.mixed_share, true)];
        match by_share(site.draw("charset"), &is_mixed) {
            Some(true) => {
                let (title, text) = two_japanese(site.draw("mixed charsets"));
                Self { title, text, place }
            }
            is_undeclared => {
                let charset = unmixed(pages, site.draw("charset of text"));
                Self { title: charset, text: charset, place: place.filter(|_| is_undeclared.is_none()) }
            }
        }
    }

    /// The same declarations of a text in UTF-8.
    pub(crate) fn in_utf8(self) -> Self {
        Self { title: Charset::Utf8, text: Charset::Utf8, ..self }
    }

    /// The charset that one page declares, and where.
    pub(crate) fn declared(&self, world: &World, page: Key) -> Option<(Charset, CharsetPlace)> {
        let pages = &world.pages;
        let draw = page.draw("charset declaration");
        let kinds = [(pages.wrong_charset_share, true), (pages.missing_charset_share, false)];
        let place = self.place?;
        match by_share(draw, &kinds) {
            None => Some((self.text, place)),
            Some(true) => Some((self.text.misread_as(draw.nth(1)), place)),
            Some(false) => None,
        }
    }
}

/// The charset of a site that is neither undeclared nor mixed. An undeclared site uses it without declaring
/// it.
fn unmixed(pages: &Pages, draw: Draw) -> Charset {
    let rest = 1.0 - pages.undeclared_share - pages.mixed_share;
    let shares = Charset::shares(pages).map(|(share, charset)| (share / rest, charset));
    by_share(draw, &shares).unwrap_or(Charset::Latin1)
}

fn two_japanese(draw: Draw) -> (Charset, Charset) {
    let all = [Charset::ShiftJis, Charset::EucJp, Charset::Iso2022Jp];
    let one = *draw.pick(&all);
    let others: Vec<Charset> = all.into_iter().filter(|other| *other != one).collect();
    (one, *draw.nth(1).pick(&others))
}
