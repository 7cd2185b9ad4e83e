use super::language::Language;
use super::notice::{Notice, words};
use crate::World;
use crate::draw::{Key, rounded};

/// The text of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageText {
    /// Sentences and random letters that fill the page to its size.
    Filler,
    /// Sentences of a language.
    Prose(Language),
    /// The page that stands in place of a site.
    Notice(&'static Notice),
    /// The whole document: it shows nothing.
    Empty(&'static str),
}

impl PageText {
    /// None for a text without meaning.
    pub(crate) fn language(self) -> Option<Language> {
        match self {
            Self::Filler | Self::Empty(_) => None,
            Self::Prose(language) => Some(language),
            Self::Notice(notice) => Some(notice.language),
        }
    }
}

/// The text of one page in a language.
pub(crate) struct Prose {
    pub title: &'static str,
    pub sentences: Vec<&'static str>,
    /// The text of each link, one word.
    pub link: &'static str,
}

/// Sentences of the longest page.
const MOST_SENTENCES: u64 = 200;
/// Distances between sentences of a page in its stock: prime to their number, so that none comes twice before
/// all have come.
const STEPS: [usize; 4] = [1, 5, 7, 11];

impl Prose {
    pub(crate) fn draw(world: &World, language: Language, page: Key) -> Self {
        let (shares, stock) = (&world.languages, stock(language));
        let drawn = page.draw("sentences").log_normal(shares.sentences_median, shares.sentences_sigma);
        let number = page.draw("first sentence").below(stock.sentences.len() as u64);
        let (first, step) = (usize::try_from(number).unwrap_or(0), page.draw("step").pick(&STEPS));
        Self {
            title: page.draw("title").pick::<&str>(&stock.titles),
            sentences: (0..rounded(drawn).clamp(1, MOST_SENTENCES))
                .zip(0..)
                .map(|(_, number)| stock.sentences[(first + number * step) % stock.sentences.len()])
                .collect(),
            link: stock.link,
        }
    }

    /// The number of words in the body of a page with so many links that have a text.
    pub(crate) fn words(&self, links: usize) -> usize {
        let sentences: usize = self.sentences.iter().map(|sentence| words(sentence)).sum();
        words(self.title) + sentences + links
    }
}

/// What pages of a language are made of. No text has a character that markup consists of (`<`, `>`, `"`, `'`,
/// `&`).
struct Stock {
    titles: [&'static str; 4],
    sentences: [&'static str; 12],
    link: &'static str,
}

fn stock(language: Language) -> &'static Stock {
    match language {
        Language::English => &ENGLISH,
        Language::French => &FRENCH,
        Language::Portuguese => &PORTUGUESE,
        Language::Swahili => &SWAHILI,
        Language::Arabic => &ARABIC,
        Language::Amharic => &AMHARIC,
        Language::Somali => &SOMALI,
    }
}

static ENGLISH: Stock = Stock {
    titles: ["News from our town", "The farmers’ market", "Our school and its teachers", "How to reach us"],
    sentences: [
        "The market opens at six in the morning and closes when the last lorry has left.",
        "Our teachers meet the parents on the first Friday of every month.",
        "It rained the whole night, so the road to the bridge is closed today.",
        "My grandmother still remembers the day when the first train came through the valley.",
        "Please bring your own cup if you would like to have tea with us.",
        "The children play football behind the church until it gets dark.",
        "We sell fresh milk, eggs and vegetables from farms around the lake.",
        "The clinic has a new nurse who speaks three languages.",
        "If you lose your ticket, ask the driver before the bus leaves the station.",
        "She wrote a long letter to her brother, who works in the harbour.",
        "The price of maize has gone up again since the beginning of the year.",
        "You will find our office on the second floor, next to the post office.",
    ],
    link: "more",
};

static FRENCH: Stock = Stock {
    titles: [
        "Les nouvelles du quartier",
        "Le marché du samedi",
        "Notre école et ses élèves",
        "Comment nous trouver",
    ],
    sentences: [
        "Le marché ouvre à six heures et ferme quand le dernier camion est parti.",
        "Les parents rencontrent les professeurs le premier vendredi du mois.",
        "Il a plu toute la nuit, et la route du pont est fermée aujourd’hui.",
        "Ma grand-mère se souvient encore du jour où le premier train est arrivé.",
        "Apportez votre tasse si vous voulez prendre le thé avec nous.",
        "Les enfants jouent au football derrière l’église jusqu’à la nuit.",
        "Nous vendons du lait frais, des œufs et des légumes de la région.",
        "Une nouvelle infirmière travaille au dispensaire et parle trois langues.",
        "Si vous perdez votre billet, demandez au chauffeur avant le départ du bus.",
        "Elle a écrit une longue lettre à son frère, qui travaille au port.",
        "Le prix du riz a encore augmenté depuis le début de l’année.",
        "Notre bureau se trouve au deuxième étage, à côté de la poste.",
    ],
    link: "suite",
};

static PORTUGUESE: Stock = Stock {
    titles: ["Notícias do bairro", "A feira de sábado", "A nossa escola e os alunos", "Como chegar até nós"],
    sentences: [
        "A feira abre às seis da manhã e fecha quando sai o último camião.",
        "Os pais falam com os professores na primeira sexta-feira do mês.",
        "Choveu toda a noite e por isso a estrada da ponte está fechada hoje.",
        "A minha avó ainda se lembra do dia em que chegou o primeiro comboio.",
        "Traga a sua chávena se quiser tomar chá connosco.",
        "As crianças jogam à bola atrás da igreja até escurecer.",
        "Vendemos leite fresco, ovos e legumes das quintas à volta do lago.",
        "A nova enfermeira do posto de saúde fala três línguas.",
        "Se perder o bilhete, fale com o motorista antes de o autocarro partir.",
        "Ela escreveu uma longa carta ao irmão, que trabalha no porto.",
        "O preço do milho voltou a subir desde o início do ano.",
        "O nosso escritório fica no segundo andar, ao lado dos correios.",
    ],
    link: "mais",
};

static SWAHILI: Stock = Stock {
    titles: ["Habari za mji wetu", "Soko la wakulima", "Shule yetu na walimu wake", "Jinsi ya kutufikia"],
    sentences: [
        "Soko linafunguliwa saa kumi na mbili asubuhi na kufungwa lori la mwisho likiondoka.",
        "Walimu wetu hukutana na wazazi kila Ijumaa ya kwanza ya mwezi.",
        "Mvua ilinyesha usiku kucha, kwa hiyo barabara ya daraja imefungwa leo.",
        "Bibi yangu bado anakumbuka siku ambayo treni ya kwanza ilipita bondeni.",
        "Tafadhali leta kikombe chako kama ungependa kunywa chai pamoja nasi.",
        "Watoto wanacheza mpira nyuma ya kanisa mpaka giza liingie.",
        "Tunauza maziwa, mayai na mboga kutoka mashamba yaliyo karibu na ziwa.",
        "Zahanati ina muuguzi mpya ambaye anazungumza lugha tatu.",
        "Ukipoteza tiketi yako, muulize dereva kabla basi halijaondoka kituoni.",
        "Alimwandikia barua ndefu kaka yake, ambaye anafanya kazi bandarini.",
        "Bei ya mahindi imepanda tena tangu mwanzo wa mwaka huu.",
        "Ofisi yetu iko kwenye ghorofa ya pili, karibu na posta.",
    ],
    link: "zaidi",
};

static ARABIC: Stock = Stock {
    titles: ["أخبار مدينتنا", "سوق المزارعين", "مدرستنا ومعلموها", "كيف تصل إلينا"],
    sentences: [
        "يفتح السوق أبوابه في السادسة صباحا ويغلق بعد خروج آخر شاحنة.",
        "يلتقي المعلمون بأولياء الأمور في أول جمعة من كل شهر.",
        "نزل المطر طوال الليل ولذلك أغلق طريق الجسر اليوم.",
        "ما زالت جدتي تتذكر اليوم الذي مر فيه أول قطار بالوادي.",
        "نرجو أن تحضر كوبك معك إذا أردت أن تشرب الشاي معنا.",
        "يلعب الأطفال كرة القدم خلف المدرسة حتى حلول الظلام.",
        "نبيع الحليب الطازج والبيض والخضروات من المزارع القريبة من البحيرة.",
        "جاءت إلى العيادة ممرضة جديدة تتكلم ثلاث لغات.",
        "إذا ضاعت تذكرتك فاسأل السائق قبل أن تغادر الحافلة المحطة.",
        "كتبت رسالة طويلة إلى أخيها الذي يعمل في الميناء.",
        "ارتفع سعر القمح مرة أخرى منذ بداية هذا العام.",
        "يقع مكتبنا في الطابق الثاني بجانب مكتب البريد.",
    ],
    link: "المزيد",
};

static AMHARIC: Stock = Stock {
    titles: ["የከተማችን ዜና", "የገበሬዎች ገበያ", "ትምህርት ቤታችን እና መምህራን", "እንዴት እንደሚያገኙን"],
    sentences: [
        "ገበያው ጠዋት በአሥራ ሁለት ሰዓት ይከፈታል።",
        "መምህራን በየወሩ የመጀመሪያ ዓርብ ከወላጆች ጋር ይገናኛሉ።",
        "ሌሊቱን ሙሉ ዝናብ ስለዘነበ የድልድዩ መንገድ ዛሬ ተዘግቷል።",
        "አያቴ የመጀመሪያው ባቡር የመጣበትን ቀን አሁንም ታስታውሳለች።",
        "ከእኛ ጋር ሻይ ለመጠጣት ከፈለጉ ኩባያዎን ይዘው ይምጡ።",
        "ልጆቹ እስኪጨልም ድረስ ከቤተ ክርስቲያን ጀርባ ኳስ ይጫወታሉ።",
        "ከሐይቁ አካባቢ የሚመጣ ወተት፣ እንቁላል እና አትክልት እንሸጣለን።",
        "ክሊኒኩ ሦስት ቋንቋ የምትናገር አዲስ ነርስ አለው።",
        "ትኬትዎ ከጠፋ አውቶቡሱ ከመነሳቱ በፊት ሹፌሩን ይጠይቁ።",
        "በወደብ ለሚሠራው ወንድሟ ረጅም ደብዳቤ ጻፈች።",
        "የበቆሎ ዋጋ ከዓመቱ መጀመሪያ ጀምሮ እንደገና ጨምሯል።",
        "ቢሮአችን በሁለተኛው ፎቅ ከፖስታ ቤቱ አጠገብ ይገኛል።",
    ],
    link: "ተጨማሪ",
};

static SOMALI: Stock = Stock {
    titles: ["Wararka magaaladeenna", "Suuqa beeraleyda", "Dugsigeenna iyo macallimiinta", "Sida naloo helo"],
    sentences: [
        "Suuqu wuxuu furmaa lixda subaxnimo wuxuuna xirmaa marka gaariga ugu dambeeya baxo.",
        "Macallimiintu waxay waalidka la kulmaan Jimcaha ugu horreeya bil kasta.",
        "Roob ayaa da’ayay habeenkii oo dhan, sidaas darteed waddada buundada waa xiran tahay maanta.",
        "Ayeeyaday weli way xusuusan tahay maalintii tareenkii ugu horreeyay yimid.",
        "Fadlan soo qaado koobkaaga haddii aad rabto inaad shaah nala cabto.",
        "Carruurtu waxay kubbad ku ciyaaraan dugsiga gadaashiisa ilaa ay madow noqoto.",
        "Waxaan iibinnaa caano, ukun iyo khudaar ka yimid beeraha harada u dhow.",
        "Rugta caafimaadka waxaa joogta kalkaaliso cusub oo ku hadasha saddex luqadood.",
        "Haddii tigidhkaagu kaa lumo, weydii darawalka ka hor inta uusan basku bixin.",
        "Waxay warqad dheer u qortay walaalkeed oo ka shaqeeya dekedda.",
        "Qiimaha galleyda ayaa mar kale kor u kacay tan iyo bilowgii sanadka.",
        "Xafiiskeennu wuxuu ku yaal dabaqa labaad, una dhow boostada.",
    ],
    link: "dheeraad",
};
