//! The sections of a world file on what the front page of a host tells of the host.

use super::keys::{KeyDoc, Table, WorldError};
use super::sections::section;

section! {
    /// Sites with one page that is not theirs, and what shows the CMS of CMS sites. The defaults are none.
    FactShares = "facts" {
        /// Sites whose only page offers the domain for sale, or has advertisements [A].
        parked_share: f64 = 0.0, 0.0..=1.0, "share of sites";
        /// Sites whose only page is the default page of a server or a control panel, or announces a site [A].
        placeholder_share: f64 = 0.0, 0.0..=1.0, "share of sites";
        /// Sites whose only page is the text of an error, with status 200 [A].
        error_share: f64 = 0.0, 0.0..=1.0, "share of sites";
        /// Sites whose only page shows nothing [A].
        empty_share: f64 = 0.0, 0.0..=1.0, "share of sites";
        /// CMS sites whose pages have a meta element `generator`; the paths of their style sheets, scripts
        /// and images show the CMS too [A].
        generator_share: f64 = 0.0, 0.0..=1.0, "share of CMS sites";
        /// CMS sites whose CMS only these paths show; none of them is a link to a page [A].
        asset_paths_share: f64 = 0.0, 0.0..=1.0, "share of CMS sites";
        /// CMS sites whose CMS only a header field of their pages shows [A].
        cms_field_share: f64 = 0.0, 0.0..=1.0, "share of CMS sites";
        /// WordPress; the shares are about those that W3Techs publishes for the sites with a known CMS, and
        /// the rest is TYPO3, PrestaShop or Wix [M].
        wordpress_share: f64 = 0.62, 0.0..=1.0, "share of sites that show their CMS";
        /// Joomla [M].
        joomla_share: f64 = 0.03, 0.0..=1.0, "share of sites that show their CMS";
        /// Drupal [M].
        drupal_share: f64 = 0.02, 0.0..=1.0, "share of sites that show their CMS";
    }
}

section! {
    /// Sites with a text of real sentences in one language. It is in UTF-8, and its length does not depend on
    /// the sizes of `[pages]`. The defaults are none: the text of other sites fills their pages, and no
    /// element declares its language.
    Languages = "languages" {
        /// Sites in English [A].
        english_share: f64 = 0.0, 0.0..=1.0, "share of sites";
        /// Sites in French [A].
        french_share: f64 = 0.0, 0.0..=1.0, "share of sites";
        /// Sites in Portuguese [A].
        portuguese_share: f64 = 0.0, 0.0..=1.0, "share of sites";
        /// Sites in Swahili [A].
        swahili_share: f64 = 0.0, 0.0..=1.0, "share of sites";
        /// Sites in Arabic [A].
        arabic_share: f64 = 0.0, 0.0..=1.0, "share of sites";
        /// Sites in Amharic [A].
        amharic_share: f64 = 0.0, 0.0..=1.0, "share of sites";
        /// Sites in Somali [A].
        somali_share: f64 = 0.0, 0.0..=1.0, "share of sites";
        /// Median number of sentences of a page [A].
        sentences_median: f64 = 12.0, 1.0..=200.0, "sentences";
        /// Sigma of the logarithm of that number, over pages [A].
        sentences_sigma: f64 = 0.7, 0.0..=3.0, "natural logarithm";
        /// Sites whose html element declares another language [A].
        wrong_declared_share: f64 = 0.0, 0.0..=1.0, "share of sites in a language";
        /// Sites whose html element declares none [A].
        undeclared_share: f64 = 0.0, 0.0..=1.0, "share of sites in a language";
    }
}

impl FactShares {
    /// The sites with a page that is not theirs.
    pub(crate) fn kinds(&self) -> f64 {
        self.parked_share + self.placeholder_share + self.error_share + self.empty_share
    }

    /// The CMS sites that show their CMS.
    pub(crate) fn traces(&self) -> f64 {
        self.generator_share + self.asset_paths_share + self.cms_field_share
    }

    /// The systems with a share of their own.
    pub(crate) fn systems(&self) -> f64 {
        self.wordpress_share + self.joomla_share + self.drupal_share
    }
}

impl Languages {
    /// The shares of the languages, in the order of the keys.
    pub(crate) fn shares(&self) -> [f64; 7] {
        [
            self.english_share,
            self.french_share,
            self.portuguese_share,
            self.swahili_share,
            self.arabic_share,
            self.amharic_share,
            self.somali_share,
        ]
    }
}
