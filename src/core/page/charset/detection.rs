use std::ops::Range;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{DecoderResult, Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE};
use memchr::memchr;

use crate::address::Host;

/// The number of bytes examined to detect a charset: if 64 KiB are not enough, more will not help.
const DETECTION_BYTES: usize = 64 * 1024;
/// Only non-ASCII bytes distinguish charsets, and this number is enough: half a page of Greek, where one
/// letter in a hundred reveals a Windows charset, or a paragraph of Japanese.
const NON_ASCII_BYTES: usize = 400;
/// The neighbours of a non-ASCII byte are significant too: the other half of a pair, the case of a word ("
/// n.º", four bytes, is the most that chardetng looks at). The detector does not get the ASCII bytes further
/// away.
const CONTEXT_BYTES: usize = 4;
/// The number of bytes fed to the detector. One byte takes 70 to 120 ns, ten times as much as the rest of
/// reading a page. 448 bytes are 50 accents, each in the middle of ASCII, which is a page of French. Of
/// 27,301 pages in 43 languages whose charset is detected from 1152 bytes, 75 are not detected from these.
const FED_BYTES: usize = 448;
const ESCAPE: u8 = 0x1b;
/// The smallest first byte of a non-ASCII character.
const UTF_8_LEAD: u8 = 0xc2;
/// The number of valid non-ASCII characters needed for each broken one.
const VALID_PER_BROKEN: usize = 4;

/// The most likely charset of the bytes, with the country of the host as a hint.
pub(in crate::page) fn guess(body: &[u8], host: &Host) -> &'static Encoding {
    match body {
        [b'<', 0, _, 0, ..] => return UTF_16LE,
        [0, b'<', 0, _, ..] => return UTF_16BE,
        _ => {}
    }
    // Up to the first significant byte, all charsets look the same.
    let plain = Encoding::ascii_valid_up_to(body);
    let first = memchr(ESCAPE, &body[..plain]).unwrap_or(plain);
    if first == body.len() {
        return UTF_8;
    }
    let sample = &body[first.saturating_sub(CONTEXT_BYTES)..];
    let window = &sample[..sample.len().min(DETECTION_BYTES)];
    if window.is_ascii() {
        // ISO-2022-JP uses only ASCII bytes, and is the only such charset.
        return if is_iso_2022_jp(window, window.len() == sample.len()) { ISO_2022_JP } else { UTF_8 };
    }
    let (pieces, end) = pieces(window);
    let window = &window[..end];
    let is_whole = window.len() == sample.len();
    if is_utf_8(window, is_whole) {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    for piece in pieces {
        detector.feed(&window[piece], false);
    }
    detector.feed(&[], is_whole);
    detector.guess(top_level_domain(host), Utf8Detection::Deny)
}

fn is_non_ascii(byte: &u8) -> bool {
    !byte.is_ascii()
}

/// The non-ASCII bytes, each with its context, and the position where the search for them ends.
fn pieces(window: &[u8]) -> (Vec<Range<usize>>, usize) {
    let non_ascii = window.iter().enumerate().filter(|(_, byte)| is_non_ascii(byte)).map(|(at, _)| at);
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let mut fed_bytes = 0;
    for (count, at) in (1..).zip(non_ascii) {
        let (start, end) = (at.saturating_sub(CONTEXT_BYTES), (at + 1 + CONTEXT_BYTES).min(window.len()));
        match pieces.last_mut() {
            Some(last) if start <= last.end => {
                fed_bytes += end - last.end;
                last.end = end;
            }
            _ => {
                fed_bytes += end - start;
                pieces.push(start..end);
            }
        }
        if count >= NON_ASCII_BYTES || fed_bytes >= FED_BYTES {
            return (pieces, end);
        }
    }
    (pieces, window.len())
}

/// Whether the bytes are UTF-8 with few errors: excerpts are cut within a character, and some pages are
/// assembled from parts. In other charsets two bytes in a row seldom look like UTF-8. The last character may
/// be cut if the window is not the whole page.
fn is_utf_8(window: &[u8], is_whole: bool) -> bool {
    let (mut sound, mut broken, mut last) = (0, 0, &b""[..]);
    for chunk in window.utf8_chunks() {
        sound += chunk.valid().bytes().filter(|byte| *byte >= UTF_8_LEAD).count();
        broken += usize::from(!chunk.invalid().is_empty());
        last = chunk.invalid();
    }
    let is_cut = str::from_utf8(last).is_err_and(|error| error.error_len().is_none());
    broken -= usize::from(is_cut && !is_whole);
    broken * VALID_PER_BROKEN <= sound
}

/// Whether the bytes are valid ISO-2022-JP; the last character may be cut if the window is not the whole
/// page.
fn is_iso_2022_jp(window: &[u8], is_whole: bool) -> bool {
    let mut decoder = ISO_2022_JP.new_decoder_without_bom_handling();
    let mut text = [0; 2048];
    let mut rest = window;
    loop {
        let (result, read, _) = decoder.decode_to_utf8_without_replacement(rest, &mut text, is_whole);
        rest = &rest[read..];
        match result {
            DecoderResult::InputEmpty => return true,
            DecoderResult::OutputFull => {}
            DecoderResult::Malformed(..) => return false,
        }
    }
}

fn top_level_domain(host: &Host) -> Option<&[u8]> {
    let label = host.as_str().rsplit('.').next()?.as_bytes();
    let is_plain =
        label.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-');
    (host.ip().is_none() && is_plain).then_some(label)
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{
        BIG5, EUC_JP, EUC_KR, GBK, ISO_8859_7, KOI8_U, SHIFT_JIS, WINDOWS_874, WINDOWS_1250, WINDOWS_1251,
        WINDOWS_1252, WINDOWS_1254, WINDOWS_1256,
    };

    /// A registry's text about its domain, in a charset of its country.
    #[rustfmt::skip]
    const TEXTS: [(&str, &Encoding, &str); 13] = [
        ("fr", WINDOWS_1252, "Les noms de domaine français sont gérés par un registre désigné après une consultation où l’État écoute les usagers. À l’été, l’accès a été élargi aux étrangers."),
        ("pl", WINDOWS_1250, "Krajowy rejestr zarządza nazwami, które kończą się na tę końcówkę. Każdy może złożyć wniosek, a opłata zależy od długości umowy i ważności wpisu."),
        ("ru", WINDOWS_1251, "Национальная регистратура ведёт список имён, которые делегированы в этой зоне. Каждый пользователь может подать заявку на новое имя."),
        ("ua", KOI8_U, "Адміністратор домену веде перелік назв, які делеговані у цій зоні. Кожен може подати заявку."),
        ("gr", ISO_8859_7, "Το μητρώο διαχειρίζεται τα ονόματα χώρου με κατάληξη της χώρας. Κάθε πολίτης μπορεί να υποβάλει αίτηση."),
        ("tr", WINDOWS_1254, "Ülkenin alan adları bir kayıt kuruluşunca yönetilir. Başvuruların çoğu aynı gün içinde sonuçlandırılır, şartlar değişirse duyurulur."),
        ("eg", WINDOWS_1256, "تدير الهيئة أسماء النطاقات في البلاد، ويمكن لكل مستخدم أن يقدم طلبا للحصول على اسم جديد."),
        ("th", WINDOWS_874, "ทะเบียนชื่อโดเมนของประเทศดูแลรายชื่อทั้งหมด ผู้ใช้ทุกคนสามารถขอจดทะเบียนชื่อใหม่ได้"),
        ("jp", SHIFT_JIS, "国の登録機関はこのドメインの名前を管理しています。だれでも新しい名前を申し込むことができます。"),
        ("jp", EUC_JP, "国の登録機関はこのドメインの名前を管理しています。だれでも新しい名前を申し込むことができます。"),
        ("kr", EUC_KR, "국가 등록 기관은 이 도메인의 이름을 관리합니다. 누구나 새로운 이름을 신청할 수 있습니다."),
        ("cn", GBK, "国家注册机构管理这个域名下的所有名称。任何用户都可以申请新的名称，费用每年支付一次。"),
        ("tw", BIG5, "國家註冊機構管理這個網域下的所有名稱。任何使用者都可以申請新的名稱，費用每年支付一次。"),
    ];

    fn detected(body: &[u8], country: &str) -> &'static Encoding {
        guess(body, &Host::parse(&format!("www.example.{country}")).unwrap())
    }

    #[test]
    fn the_charsets_of_countries_are_told_whatever_markup_stands_between() {
        for (country, encoding, text) in TEXTS {
            for markup in [" ", "\n<a href=\"/page/1234/index.html\">Read more about this</a>\n"] {
                let body = text.replace(' ', markup).repeat(3);
                let (bytes, _, is_wrong) = encoding.encode(&body);
                assert!(!is_wrong, "{country}");
                assert_eq!(detected(&bytes, country).name(), encoding.name(), "{country} {markup:?}");
            }
            assert_eq!(detected(text.as_bytes(), country), UTF_8, "{country}");
        }
    }

    #[test]
    fn utf_8_may_be_cut_where_looking_ends_and_nowhere_else() {
        for padding in 0..5 {
            for letters in ["é", "日本語", "é 日 😀 "] {
                let text = format!("{}{}", "x".repeat(padding), letters.repeat(FED_BYTES));
                assert_eq!(detected(text.as_bytes(), "jp"), UTF_8, "{padding} {letters}");
            }
        }
        assert_ne!(detected("caf\u{e9}".as_bytes().split_last().unwrap().1, "fr"), UTF_8);
    }

    #[test]
    fn utf_8_is_told_though_a_character_in_five_is_broken() {
        let broken = |sound: usize| [&"é, ".repeat(sound).into_bytes()[..], b"\xe6\x97</p>"].concat();
        assert_eq!(detected(&broken(4), "ke"), UTF_8);
        assert_ne!(detected(&broken(3), "ke"), UTF_8);
        assert_eq!(detected(&broken(4).repeat(100), "ke"), UTF_8);
        assert_ne!(detected(&broken(3).repeat(100), "ke"), UTF_8);
        assert!(is_utf_8(b"caf\xc3", false) && !is_utf_8(b"caf\xc3", true));
    }

    #[test]
    fn looking_ends_where_enough_was_told_and_not_before() {
        // 400 non-ASCII bytes, or 448 with their context; four more are examined.
        for (text, end) in [("é", 399 + 5), ("é and more text", 45 * 16 + 5), ("é, more", 56 * 8 + 5)] {
            assert_eq!(pieces(text.repeat(1000).as_bytes()).1, end, "{text}");
        }
        let late = |bytes: usize| {
            let (text, _, _) = EUC_JP.encode(TEXTS[9].2);
            detected(&[b"\x1b", "x".repeat(bytes).as_bytes(), &text].concat(), "jp")
        };
        assert_eq!(late(60_000), EUC_JP);
        assert_eq!(late(70_000), UTF_8);
    }

    #[test]
    fn utf_16_is_told_by_its_first_bracket() {
        assert_eq!(detected(b"<\0p\0>\0", "ke"), UTF_16LE);
        assert_eq!(detected(b"\0<\0p\0>", "ke"), UTF_16BE);
        assert_eq!(detected(b"<\0", "ke"), UTF_8);
    }

    #[test]
    fn escapes_alone_are_iso_2022_jp_where_nothing_is_wrong_in_it() {
        let (japanese, _, _) = ISO_2022_JP.encode("国の登録機関はこのドメインの名前を管理しています。\n");
        assert_eq!(detected(&japanese, "jp"), ISO_2022_JP);
        assert_eq!(detected(&japanese.repeat(DETECTION_BYTES / japanese.len() + 1), "jp"), ISO_2022_JP);
        for other in [&b"\x1b[31mred\x1b[0m"[..], b"\x1b$B\x24", b"x\x1b"] {
            assert_eq!(detected(other, "jp"), UTF_8, "{other:?}");
        }
        assert_ne!(detected(b"\x1b(B \xe9t\xe9", "fr"), ISO_2022_JP);
    }

    #[test]
    fn any_host_is_a_hint_or_none() {
        let domain_of = |name: &str| top_level_domain(&Host::parse(name).unwrap()).map(<[u8]>::to_vec);
        assert_eq!(domain_of("a.中国").as_deref(), Some(b"xn--fiqs8s".as_slice()));
        assert_eq!(domain_of("a.b_c"), None);
        assert_eq!(domain_of("192.0.2.1"), None);
        assert_eq!(domain_of("[2001:db8::1]"), None);
    }
}
