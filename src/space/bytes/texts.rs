//! The text of virtual pages: a few sentences in four languages, in the bytes of each charset.
//!
//! Every sentence is complete in its encoding (ISO-2022-JP returns to ASCII at its end), so markup may follow
//! it. No sentence contains a byte that markup consists of (`<`, `>`, `"`, `'`, `&`). The second bytes of
//! ISO-2022-JP are ASCII, and a parser that decodes them as such must neither find a tag nor lose one. The
//! Japanese words are chosen accordingly; `tests` checks every charset read as every other.

use std::sync::LazyLock;

use super::charset::Charset;

/// The text of one language in one charset.
pub(crate) struct Text {
    pub title: Vec<u8>,
    pub sentences: Vec<Vec<u8>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    /// With typographic characters outside ASCII.
    English,
    /// With characters of ISO-8859-1 only.
    French,
    /// With the characters that windows-1252 adds.
    TypesetFrench,
    Arabic,
    Japanese,
}

/// The text of a site in a charset; in UTF-8 the language is that of its country domain.
pub(crate) fn text(charset: Charset, host: &str) -> &'static Text {
    let number = match charset {
        Charset::Utf8 => match language_of(host) {
            Language::Arabic => 1,
            Language::Japanese => 2,
            Language::French | Language::TypesetFrench => 3,
            Language::English => 0,
        },
        Charset::Latin1 => 4,
        Charset::Windows1252 => 5,
        Charset::Windows1256 => 6,
        Charset::ShiftJis => 7,
        Charset::EucJp => 8,
        Charset::Iso2022Jp => 9,
    };
    &TEXTS[number]
}

static TEXTS: LazyLock<[Text; 10]> = LazyLock::new(|| {
    [
        (Language::English, Charset::Utf8),
        (Language::Arabic, Charset::Utf8),
        (Language::Japanese, Charset::Utf8),
        (Language::TypesetFrench, Charset::Utf8),
        (Language::French, Charset::Latin1),
        (Language::TypesetFrench, Charset::Windows1252),
        (Language::Arabic, Charset::Windows1256),
        (Language::Japanese, Charset::ShiftJis),
        (Language::Japanese, Charset::EucJp),
        (Language::Japanese, Charset::Iso2022Jp),
    ]
    .map(|(language, charset)| {
        let encoded = |text: &str| charset.encoding().encode(text).0.into_owned();
        let (title, sentences) = word_list(language);
        Text { title: encoded(title), sentences: sentences.iter().map(|text| encoded(text)).collect() }
    })
});

fn language_of(host: &str) -> Language {
    match host.rsplit('.').next().unwrap_or_default() {
        "jp" => Language::Japanese,
        "eg" | "ma" | "dz" | "tn" | "ly" | "sd" | "mr" => Language::Arabic,
        "sn" | "ci" | "ml" | "bj" | "bf" | "cm" | "ne" | "tg" | "cd" | "ga" | "fr" => Language::TypesetFrench,
        _ => Language::English,
    }
}

fn word_list(language: Language) -> (&'static str, [&'static str; 8]) {
    match language {
        Language::English => ("Karibu – the institute’s pages", ENGLISH),
        Language::French => ("Université de la côte", FRENCH),
        Language::TypesetFrench => ("L’œuvre – côte d’été", TYPESET_FRENCH),
        Language::Arabic => ("صفحة المكتبة الوطنية", ARABIC),
        Language::Japanese => ("日本語の図書館案内", JAPANESE),
    }
}

const ENGLISH: [&str; 8] = [
    "The office is open on weekdays – visitors are asked to bring a letter of introduction. ",
    "Karibu: the reading room lies on the second floor, next to the map collection. ",
    "It closes an hour before the house; the café in the court stays open. ",
    "Questions about the harvest and the ferry are answered at the desk “by the entrance”. ",
    "Habari za leo – the weather station’s readings are printed every morning. ",
    "The director’s report for the year has been laid before the council. ",
    "Tickets cost 200 shillings… pupils pay half, teachers come in free. ",
    "New books have arrived from Zürich, São Paulo and Malmö. ",
];

const FRENCH: [&str; 8] = [
    "Le secrétariat est ouvert du lundi au vendredi, sauf les jours fériés. ",
    "La salle de lecture se trouve au deuxième étage, à côté des cartes. ",
    "Les étudiants étrangers présentent une pièce à la réception. ",
    "La météo de la forêt et des régions côtières paraît chaque matinée. ",
    "Le théâtre répète déjà la pièce qui sera créée à la rentrée. ",
    "Où trouver la bibliothèque ? Près de la gare, derrière le marché. ",
    "Le rapport du conseil a été présenté à la société générale. ",
    "Les élèves paient la moitié du tarif, même à Noël. ",
];

const TYPESET_FRENCH: [&str; 8] = [
    "L’accueil est ouvert du lundi au vendredi – sauf les jours fériés. ",
    "La salle de lecture se trouve à l’étage, à côté des cartes… et des œuvres. ",
    "Les étudiants d’ailleurs présentent une pièce à la réception. ",
    "« La météo de la forêt » paraît chaque matinée pour 2 €. ",
    "Le chœur répète déjà l’œuvre qui sera créée à la rentrée. ",
    "Où trouver la bibliothèque ? Près de la gare – derrière le marché. ",
    "Le rapport du conseil – dit “bilan” – a été présenté à l’assemblée. ",
    "Les élèves paient la moitié du tarif, même à Noël. ",
];

const ARABIC: [&str; 8] = [
    "المكتب مفتوح من الأحد إلى الخميس، ما عدا أيام العطل. ",
    "تقع قاعة القراءة في الطابق الثاني بجانب مجموعة الخرائط. ",
    "يرجى من الزوار إحضار رسالة تعريف من الجامعة. ",
    "تنشر نشرة الطقس كل صباح في الصحيفة. ",
    "وصلت كتب جديدة من القاهرة والرباط وتونس. ",
    "هل تبحث عن المكتبة؟ إنها قرب محطة القطار. ",
    "قدم التقرير السنوي إلى المجلس في شهر مايو. ",
    "يدفع التلاميذ نصف الثمن، ويدخل المعلمون مجانا. ",
];

/// Without the characters whose bytes in ISO-2022-JP are those of markup, such as あ and し.
const JAPANESE: [&str; 8] = [
    "大学の図書館は平日の午前九時から午後五時まで利用できます。 ",
    "資料の貸出は一人五冊までです。 ",
    "月曜日は休館となります。 ",
    "地図と新聞は二階の奥にまとめておきます。 ",
    "今日の天気と港の船の時刻をお知らせいたします。 ",
    "農業の講演の予定はこちらをごらんください。 ",
    "東京と京都と大阪から本が届きました。 ",
    "電話での問い合わせは午前中にお願いいたします。 ",
];
