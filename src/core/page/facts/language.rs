use std::sync::LazyLock;

use foldhash::{HashMap, HashMapExt};
use whatlang::Lang;

/// The language of a text: its code of ISO 639-1, or of ISO 639-3 where there is none. None if the text is
/// short or no language is certain.
///
/// Small words come first (`data/function-words.toml`): they recognise the common languages of Western
/// Europe and of Africa. The trigrams of the crate `whatlang` decide the rest. For a language of those lists
/// they count only if no other has more of the text's small words: `whatlang` takes Swahili for Shona, Xhosa
/// for Zulu and Tigrinya for Amharic, and is sure of it.
pub(super) fn detect(text: &str) -> Option<&'static str> {
    let small_words = count_small_words(text);
    small_words.certain().or_else(|| by_trigrams(text, small_words.best))
}

/// Below, a text is the words of a menu.
const LEAST_WORDS: u16 = 10;
/// The least percentage of words that are small words of the language: 30 to 60 are in a plain text, fewer in
/// menus and names.
const LEAST_PERCENT: u16 = 20;
/// The same where a language writes as part of a longer word what others write as a small word.
const LEAST_PERCENT_OF_LONG_WORDS: u16 = 6;
const LONG_WORDS: [&str; 9] = ["zu", "xh", "ss", "sn", "rw", "rn", "lg", "am", "ti"];
/// The lead over the next language, in percent of its score. Related languages share half of their small
/// words; on twenty texts each of Rundi, Sotho and Tswana this takes one in thirty for its neighbour.
const LEAST_LEAD_PERCENT: u32 = 120;
/// The score of a word that stands in one language only; in several, they share it.
const SCORE: u32 = 60;

/// The languages of `data/function-words.toml`, and the set of those that have each word, a bit each.
struct SmallWords {
    codes: Vec<&'static str>,
    languages: HashMap<&'static str, u64>,
}

static SMALL_WORDS: LazyLock<SmallWords> = LazyLock::new(|| {
    let mut small_words = SmallWords { codes: Vec::new(), languages: HashMap::new() };
    let lists = include_str!("../../data/function-words.toml").lines();
    for (code, words) in lists.filter_map(|line| line.split_once(" = ")) {
        if let Some(bit) = 1_u64.checked_shl(u32::try_from(small_words.codes.len()).unwrap_or(u32::MAX)) {
            small_words.codes.push(code);
            for word in words.trim_matches('"').split(' ') {
                *small_words.languages.entry(word).or_default() |= bit;
            }
        }
    }
    small_words
});

/// The small words of a text.
struct Counted {
    words: u16,
    /// The language with the highest score.
    best: Option<&'static str>,
    /// The number of its words in the text.
    count: u16,
    score: u32,
    next_score: u32,
}

fn count_small_words(text: &str) -> Counted {
    let known = &*SMALL_WORDS;
    let (mut counts, mut scores) = ([0_u16; u64::BITS as usize], [0_u32; u64::BITS as usize]);
    let mut words = 0_u16;
    let text = text.to_lowercase().replace(['’', 'ʼ', '‘'], "'");
    let ends = |c: char| !c.is_alphabetic() && !is_mark(c) && c != '\'';
    for word in text.split(ends).filter(|word| !word.is_empty()) {
        words = words.saturating_add(1);
        let mut languages = known.languages.get(word).copied().unwrap_or(0);
        let score = SCORE / languages.count_ones().max(1);
        while languages > 0 {
            let language = languages.trailing_zeros() as usize;
            counts[language] = counts[language].saturating_add(1);
            scores[language] += score;
            languages &= languages - 1;
        }
    }
    let best = (0..known.codes.len()).max_by_key(|language| scores[*language]).unwrap_or(0);
    let (count, score) = (counts[best], std::mem::take(&mut scores[best]));
    let next_score = scores.into_iter().max().unwrap_or(0);
    Counted { words, best: known.codes.get(best).copied().filter(|_| count > 0), count, score, next_score }
}

impl Counted {
    fn certain(&self) -> Option<&'static str> {
        let is_certain = |code: &&str| {
            let is_long = LONG_WORDS.contains(code);
            let percent = if is_long { LEAST_PERCENT_OF_LONG_WORDS } else { LEAST_PERCENT };
            self.words >= LEAST_WORDS
                && self.count >= 3
                && 100 * u32::from(self.count) >= u32::from(percent) * u32::from(self.words)
                && 100 * self.score >= LEAST_LEAD_PERCENT * self.next_score
        };
        self.best.filter(is_certain)
    }
}

/// A combining mark: Yoruba has letters with two signs, of which Unicode has no single character.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// The limit on what is compared by trigrams, which costs a hundred nanoseconds a byte. The end of a
/// sample has fewer words of menus than its beginning.
const MAX_TRIGRAM_BYTES: usize = 700;
/// Texts shorter than this many letters are guessed wrong too often.
const LEAST_LETTERS: usize = 60;

fn by_trigrams(text: &str, best: Option<&str>) -> Option<&'static str> {
    let from = text.len().saturating_sub(MAX_TRIGRAM_BYTES);
    let sample = &text[text.ceil_char_boundary(from)..];
    let is_ideographic = |c: char| matches!(c, '\u{3040}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}');
    let weight = |c: char| if is_ideographic(c) { 4 } else { usize::from(c.is_alphabetic()) };
    if sample.chars().map(weight).sum::<usize>() < LEAST_LETTERS {
        return None;
    }
    let found = whatlang::detect(sample).filter(|found| found.is_reliable())?;
    let code = code(found.lang());
    let is_confirmed = best == Some(code) || !SMALL_WORDS.codes.contains(&code);
    // What is left over of languages without a list looks like these.
    let is_doubtful = matches!(found.lang(), Lang::Epo | Lang::Lat | Lang::Uzb | Lang::Tuk);
    (!is_doubtful && is_confirmed).then_some(code)
}

/// The code of ISO 639-1.
fn code(lang: Lang) -> &'static str {
    match lang {
        Lang::Epo => "eo",
        Lang::Eng => "en",
        Lang::Rus => "ru",
        Lang::Cmn => "zh",
        Lang::Spa => "es",
        Lang::Por => "pt",
        Lang::Ita => "it",
        Lang::Ben => "bn",
        Lang::Fra => "fr",
        Lang::Deu => "de",
        Lang::Ukr => "uk",
        Lang::Kat => "ka",
        Lang::Ara => "ar",
        Lang::Hin => "hi",
        Lang::Jpn => "ja",
        Lang::Heb => "he",
        Lang::Yid => "yi",
        Lang::Pol => "pl",
        Lang::Amh => "am",
        Lang::Jav => "jv",
        Lang::Kor => "ko",
        Lang::Nob => "nb",
        Lang::Dan => "da",
        Lang::Swe => "sv",
        Lang::Fin => "fi",
        Lang::Tur => "tr",
        Lang::Nld => "nl",
        Lang::Hun => "hu",
        Lang::Ces => "cs",
        Lang::Ell => "el",
        Lang::Bul => "bg",
        Lang::Bel => "be",
        Lang::Mar => "mr",
        Lang::Kan => "kn",
        Lang::Ron => "ro",
        Lang::Slv => "sl",
        Lang::Hrv => "hr",
        Lang::Srp => "sr",
        Lang::Mkd => "mk",
        Lang::Lit => "lt",
        Lang::Lav => "lv",
        Lang::Est => "et",
        Lang::Tam => "ta",
        Lang::Vie => "vi",
        Lang::Urd => "ur",
        Lang::Tha => "th",
        Lang::Guj => "gu",
        Lang::Uzb => "uz",
        Lang::Pan => "pa",
        Lang::Aze => "az",
        Lang::Ind => "id",
        Lang::Tel => "te",
        Lang::Pes => "fa",
        Lang::Mal => "ml",
        Lang::Ori => "or",
        Lang::Mya => "my",
        Lang::Nep => "ne",
        Lang::Sin => "si",
        Lang::Khm => "km",
        Lang::Tuk => "tk",
        Lang::Aka => "ak",
        Lang::Zul => "zu",
        Lang::Sna => "sn",
        Lang::Afr => "af",
        Lang::Lat => "la",
        Lang::Slk => "sk",
        Lang::Cat => "ca",
        Lang::Tgl => "tl",
        Lang::Hye => "hy",
        Lang::Cym => "cy",
    }
}
