use super::notice::filled;
use crate::World;
use crate::draw::{Key, by_share};

/// A content management system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cms {
    WordPress,
    Joomla,
    Drupal,
    Typo3,
    PrestaShop,
    Wix,
}

/// What of a response shows the CMS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CmsTrace {
    /// The meta element `generator` of its pages; the paths of their assets show it too.
    Generator,
    /// Only the paths of style sheets, scripts and images.
    Paths,
    /// Only a header field of its pages.
    Field,
}

/// A CMS that shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShownCms {
    pub cms: Cms,
    pub by: CmsTrace,
    /// Its version, among those of the world's years.
    version: Key,
    is_late: bool,
}

/// How a CMS writes its pages, from memory [M].
struct Habits {
    /// The values of `generator` until 2015, and from then on.
    generators: [&'static [&'static str]; 2],
    /// Elements of the head.
    head: &'static str,
    /// An element of the body.
    image: &'static str,
    field: (&'static str, &'static str),
}

/// The first year of the later generators.
const LATE_BEGINS: i64 = 2015;

/// The systems beside the three most used ones.
const OTHERS: [Cms; 3] = [Cms::Typo3, Cms::PrestaShop, Cms::Wix];

impl ShownCms {
    /// `content` is the key of the facts of a CMS site's pages. None if nothing shows the CMS.
    pub(crate) fn draw(world: &World, content: Key) -> Option<Self> {
        let shares = &world.facts;
        let traces = [
            (shares.generator_share, CmsTrace::Generator),
            (shares.asset_paths_share, CmsTrace::Paths),
            (shares.cms_field_share, CmsTrace::Field),
        ];
        let by = by_share(content.draw("shows its CMS"), &traces)?;
        let systems = [
            (shares.wordpress_share, Cms::WordPress),
            (shares.joomla_share, Cms::Joomla),
            (shares.drupal_share, Cms::Drupal),
        ];
        let cms = by_share(content.draw("which CMS"), &systems)
            .unwrap_or_else(|| *content.draw("which other CMS").pick(&OTHERS));
        let version = content.part("version of the CMS");
        Some(Self { cms, by, version, is_late: world.date.year() >= LATE_BEGINS })
    }

    /// The value of the meta element `generator`.
    pub(crate) fn generator(self) -> Option<&'static str> {
        let [early, late] = self.cms.habits().generators;
        let versions = if self.is_late { late } else { early };
        (self.by == CmsTrace::Generator).then(|| *self.version.draw("generator").pick::<&str>(versions))
    }

    /// Elements of the head and of the body whose paths show the CMS; none of them is a link to a page.
    pub(crate) fn assets(self) -> Option<(&'static str, &'static str)> {
        let habits = self.cms.habits();
        (self.by != CmsTrace::Field).then_some((habits.head, habits.image))
    }

    pub(crate) fn field(self, host: &str) -> Option<(&'static str, String)> {
        let (name, value) = self.cms.habits().field;
        (self.by == CmsTrace::Field).then(|| (name, filled(value, host)))
    }
}

impl Cms {
    /// The word for it in the table `hosts`.
    pub(crate) fn column_value(self) -> &'static str {
        match self {
            Self::WordPress => "wordpress",
            Self::Joomla => "joomla",
            Self::Drupal => "drupal",
            Self::Typo3 => "typo3",
            Self::PrestaShop => "prestashop",
            Self::Wix => "wix",
        }
    }

    fn habits(self) -> &'static Habits {
        match self {
            Self::WordPress => &WORDPRESS,
            Self::Joomla => &JOOMLA,
            Self::Drupal => &DRUPAL,
            Self::Typo3 => &TYPO3,
            Self::PrestaShop => &PRESTASHOP,
            Self::Wix => &WIX,
        }
    }
}

impl CmsTrace {
    /// The word for it in the table `hosts`.
    pub(crate) fn column_value(self) -> &'static str {
        match self {
            Self::Generator => "generator",
            Self::Paths => "paths",
            Self::Field => "field",
        }
    }
}

static WORDPRESS: Habits = Habits {
    generators: [
        &["WordPress 1.5.2", "WordPress 2.0.2", "WordPress 2.0.3"],
        &["WordPress 6.5.2", "WordPress 6.4.3", "WordPress 6.1.1", "WordPress 5.8.1", "WordPress 4.9.26"],
    ],
    head: "<link rel=\"stylesheet\" href=\"/wp-content/themes/astra/style.css?ver=4.1\">\n\
           <script src=\"/wp-includes/js/jquery/jquery.min.js?ver=3.7.1\"></script>\n",
    image: "<img src=\"/wp-content/uploads/2024/01/logo.png\" alt=\"\">\n",
    field: ("Link", "<https://{host}/wp-json/>; rel=\"https://api.w.org/\""),
};

static JOOMLA: Habits = Habits {
    generators: [
        &["Joomla! - Copyright (C) 2005 - 2006 Open Source Matters. All rights reserved."],
        &["Joomla! - Open Source Content Management"],
    ],
    head: "<link rel=\"stylesheet\" href=\"/templates/cassiopeia/css/template.min.css\">\n\
           <script src=\"/media/system/js/core.min.js\"></script>\n",
    image: "<img src=\"/images/joomla_black.png\" alt=\"\">\n",
    field: ("X-Content-Encoded-By", "Joomla"),
};

static DRUPAL: Habits = Habits {
    generators: [
        &["Drupal 5 (http://drupal.org)"],
        &[
            "Drupal 10 (https://www.drupal.org)",
            "Drupal 9 (https://www.drupal.org)",
            "Drupal 7 (http://drupal.org)",
        ],
    ],
    head: "<link rel=\"stylesheet\" href=\"/sites/default/files/css/css_xE-rWrJf.css\">\n\
           <script src=\"/core/misc/drupal.js?v=10.2.5\"></script>\n",
    image: "<img src=\"/sites/default/files/logo.svg\" alt=\"\">\n",
    field: ("X-Generator", "Drupal 10 (https://www.drupal.org)"),
};

static TYPO3: Habits = Habits {
    generators: [&["TYPO3 3.8 CMS", "TYPO3 4.0 CMS"], &["TYPO3 CMS"]],
    head: "<link rel=\"stylesheet\" href=\"/typo3conf/ext/site/Resources/Public/Css/main.css\">\n\
           <script src=\"/typo3temp/assets/compressed/merged-7d1c.js\"></script>\n",
    image: "<img src=\"/fileadmin/user_upload/logo.png\" alt=\"\">\n",
    field: ("X-TYPO3-Parsetime", "0ms"),
};

static PRESTASHOP: Habits = Habits {
    generators: [&["PrestaShop"], &["PrestaShop"]],
    head: "<link rel=\"stylesheet\" href=\"/themes/classic/assets/cache/theme-4a4a0f.css\">\n\
           <script src=\"/modules/ps_imageslider/js/responsiveslides.min.js\"></script>\n",
    image: "<img src=\"/img/prestashop-logo.jpg\" alt=\"\">\n",
    field: ("Powered-By", "PrestaShop"),
};

static WIX: Habits = Habits {
    generators: [&["Wix.com Website Builder"], &["Wix.com Website Builder"]],
    head: "<link rel=\"preconnect\" href=\"https://static.parastorage.com/\">\n\
           <script src=\"https://static.parastorage.com/services/wix-thunderbolt/main.js\"></script>\n",
    image: "<img src=\"https://static.wixstatic.com/media/logo.png\" alt=\"\">\n",
    field: ("X-Wix-Request-Id", "1717233000.4175362"),
};
