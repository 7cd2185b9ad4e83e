//! Texts as pages have them: written for these tests, unlike the texts with which the lists were compared.

use proptest::prelude::*;

use super::language::detect;

/// By language, the beginnings of pages: news, shops, schools, offices.
const TEXTS: [(&str, &str); 34] = [
    (
        "sw",
        "Karibu kwenye tovuti ya shule yetu. Hapa utapata habari za masomo, ratiba ya mitihani na picha za wanafunzi.",
    ),
    (
        "sw",
        "Serikali imetangaza kuwa barabara ya Mombasa itafungwa kwa siku tatu ili kufanya matengenezo. Madereva wameombwa kutumia njia mbadala hadi Jumatatu.",
    ),
    (
        "sw",
        "Tunauza simu, kompyuta na vifaa vya umeme kwa bei nafuu. Piga simu leo au tembelea duka letu katikati ya jiji la Arusha.",
    ),
    (
        "en",
        "Welcome to our school. Here you will find news about the exams, the timetable and pictures of the students.",
    ),
    (
        "en",
        "The county government has announced that the road will be closed for three days while it is being repaired.",
    ),
    (
        "fr",
        "Bienvenue sur le site de notre école. Vous y trouverez les nouvelles des examens et les photos des élèves de la classe.",
    ),
    (
        "fr",
        "Le ministère annonce que la route sera fermée pendant trois jours pour des travaux. Les conducteurs sont priés de prendre un autre chemin.",
    ),
    (
        "pt",
        "Bem-vindo ao sítio da nossa escola. Aqui encontra as notícias dos exames, o horário e as fotografias dos alunos.",
    ),
    (
        "es",
        "Bienvenidos a la página de nuestra escuela. Aquí encontrará las noticias de los exámenes, el horario y las fotos de los alumnos.",
    ),
    (
        "de",
        "Willkommen auf der Seite unserer Schule. Hier finden Sie Nachrichten über die Prüfungen, den Stundenplan und Bilder der Schüler.",
    ),
    (
        "it",
        "Benvenuti sul sito della nostra scuola. Qui trovate le notizie degli esami, l'orario e le foto degli alunni della prima classe.",
    ),
    (
        "nl",
        "Welkom op de site van onze school. Hier vindt u het nieuws over de examens, het rooster en de foto's van de leerlingen.",
    ),
    (
        "af",
        "Welkom by ons skool se webwerf. Hier kan jy nuus oor die eksamens vind, asook die rooster en foto's wat deur leerlinge geneem is.",
    ),
    ("ar", "مرحبا بكم في موقع مدرستنا. هنا تجدون أخبار الامتحانات والجدول الدراسي وصور الطلاب من جميع الصفوف."),
    (
        "so",
        "Ku soo dhawoow bogga dugsigeena. Halkan waxaad ka heli kartaa wararka imtixaanaadka, jadwalka iyo sawirrada ardayda ee sannadkan.",
    ),
    (
        "so",
        "Dowladda ayaa sheegtay in waddada la xiri doono muddo saddex maalmood ah si loo dayactiro. Darawallada waxaa laga codsaday inay isticmaalaan waddo kale.",
    ),
    (
        "ha",
        "Barka da zuwa shafin makarantarmu. A nan za ku samu labarai na jarrabawa da jadawalin karatu da kuma hotunan dalibai.",
    ),
    (
        "ha",
        "Gwamnati ta bayyana cewa za a rufe hanyar har tsawon kwana uku domin gyara. An bukaci direbobi su bi wata hanya daban.",
    ),
    (
        "yo",
        "Ẹ káàbọ̀ sí ojú-ewé ilé-ìwé wa. Níbí ni ẹ ti lè rí ìròyìn nípa ìdánwò àti àwòrán àwọn ọmọ ilé-ìwé wa.",
    ),
    (
        "ig",
        "Nnọọ na webụsaịtị nke ụlọ akwụkwọ anyị. Ebe a ka ị ga-ahụ akụkọ gbasara ule na foto ndị nwa akwụkwọ.",
    ),
    (
        "rw",
        "Murakaza neza ku rubuga rw'ishuri ryacu. Hano murahasanga amakuru y'ibizamini n'amafoto y'abanyeshuri bo muri uyu mwaka.",
    ),
    (
        "rw",
        "Guverinoma yatangaje ko umuhanda uzafungwa iminsi itatu kugira ngo usanwe. Abashoferi basabwe gukoresha izindi nzira kandi bagomba kwitonda.",
    ),
    (
        "zu",
        "Siyakwamukela kuwebhusayithi yesikole sethu. Lapha uzothola izindaba ngezivivinyo kanye nezithombe zabafundi bonke bethu futhi nohlelo.",
    ),
    (
        "xh",
        "Wamkelekile kwiwebhusayithi yesikolo sethu. Apha uza kufumana iindaba ngeemviwo kunye nemifanekiso yabafundi bonke ukuze ubone.",
    ),
    (
        "sn",
        "Mauya kuwebhusaiti yechikoro chedu. Pano munowana nhau pamusoro pebvunzo uye mifananidzo yevana vese vechikoro kana muchida.",
    ),
    ("am", "ወደ ትምህርት ቤታችን ድረ ገጽ እንኳን ደህና መጡ። እዚህ ስለ ፈተና ዜና እና የተማሪዎች ፎቶዎች ሁሉ ያገኛሉ። ይህ ገጽ በየቀኑ ይታደሳል ነው።"),
    (
        "ti",
        "ናብ መርበብ ሓበሬታ ቤት ትምህርትና እንቋዕ ብደሓን መጻእኩም። ኣብዚ ብዛዕባ ፈተና ዜናን ናይ ተማሃሮ ስእልታትን ክትረኽቡ ኢኹም። እዚ ገጽ መዓልታዊ እዩ ዝሕደስ።",
    ),
    (
        "mg",
        "Tongasoa eto amin'ny tranonkalan'ny sekolintsika. Eto ianao no hahita ny vaovao momba ny fanadinana sy ny sarin'ny mpianatra rehetra.",
    ),
    (
        "ln",
        "Boyei malamu na site ya eteyelo na biso. Awa okozwa basango ya ba examens mpe bililingi ya bana nyonso oyo bazali na kelasi.",
    ),
    (
        "om",
        "Baga nagaan gara marsariitii mana barumsa keenyaa dhuftan. Asitti oduu qormaataa fi suuraa barattootaa ni argattu. Kun kan hunda keenyaati.",
    ),
    (
        "ru",
        "Добро пожаловать на сайт нашей школы. Здесь вы найдёте новости об экзаменах, расписание и фотографии учеников.",
    ),
    (
        "pl",
        "Witamy na stronie naszej szkoły. Znajdziesz tutaj wiadomości o egzaminach, plan lekcji oraz zdjęcia uczniów wszystkich klas.",
    ),
    (
        "cs",
        "Vítejte na stránkách naší školy. Najdete zde zprávy o zkouškách, rozvrh hodin a fotografie žáků všech tříd. Děkujeme vám za návštěvu a přejeme příjemný den.",
    ),
    ("zh", "欢迎访问我们学校的网站。在这里您可以找到有关考试的新闻、课程表和学生的照片。"),
];

#[test]
fn texts_of_pages_have_their_language() {
    let guessed = |text| detect(text).unwrap_or("none");
    let missed: Vec<_> = TEXTS.iter().filter(|(language, text)| guessed(text) != *language).collect();
    let missed: Vec<_> = missed.iter().map(|(language, text)| (language, guessed(text), text)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn texts_that_are_short_or_names_have_none() {
    for text in [
        "",
        "Karibu",
        "Home About Contact",
        "404",
        "Nairobi Mombasa Kisumu Nakuru Eldoret Thika Malindi Kitale Garissa Kakamega Nyeri Meru Embu Lamu",
        "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30",
    ] {
        assert_eq!(detect(text), None, "{text}");
    }
}

#[test]
fn no_language_is_listed_twice_and_a_text_of_its_list_is_in_it() {
    let lists =
        include_str!("../../data/function-words.toml").lines().filter_map(|line| line.split_once(" = "));
    let mut codes = std::collections::BTreeSet::new();
    for (code, words) in lists {
        assert!(codes.insert(code), "{code}");
        let words = words.trim_matches('"');
        assert_eq!(words, words.to_lowercase(), "{code}");
        assert_eq!(detect(words), Some(code));
    }
    assert!((35..=64).contains(&codes.len()), "a bit each");
}

proptest! {
    #[test]
    fn any_text_has_a_language_or_none(text in any::<String>()) {
        let code = detect(&text);
        prop_assert!(code.is_none_or(|code| (2..=3).contains(&code.len())));
    }
}
