use super::links::{P, WrittenLinks};
use crate::World;
use crate::draw::{Draw, Key, real, rounded};

/// Text without meaning that fills a page.
///
/// It begins with the block of the site, which is the same on all its pages as far as they have room for it;
/// the rest is the page's own. Random letters and digits follow each sentence, so that pages differ and gzip
/// compresses them to about a quarter, as with real pages, instead of a hundredth.
pub(crate) struct Filler<'t> {
    sentences: &'t [Vec<u8>],
    site: Key,
    page: Key,
    template: usize,
    own_bytes: usize,
}

/// Random letters and digits after each sentence.
const NOISE_BYTES: usize = 30;

/// A letter or digit for six random bits; two of them occur twice, because 62 is not a power of two.
const LETTERS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789eE";

/// Fills the space that is too short for a sentence.
const DOTS: &[u8; 256] = &[b'.'; 256];

impl<'t> Filler<'t> {
    /// The size drawn for a page: log-normal over the sites, and over the pages of a site.
    pub(crate) fn page_bytes(world: &World, site: Key, page: Key) -> usize {
        let (median, sigma) = site_bytes(world, site);
        let bytes = page.draw("bytes").log_normal(median, sigma);
        usize::try_from(rounded(bytes).min(world.pages.most_bytes)).unwrap_or(0)
    }

    /// The text of a page with `room` bytes for it.
    pub(crate) fn new(world: &World, site: Key, page: Key, sentences: &'t [Vec<u8>], room: usize) -> Self {
        let (median, sigma) = site_bytes(world, site);
        let mean = (median * (sigma * sigma / 2.0).exp()).min(real(world.pages.most_bytes));
        let template = usize::try_from(rounded(world.pages.template_share * mean)).unwrap_or(0).min(room);
        Self { sentences, site, page, template, own_bytes: room - template }
    }

    /// Bytes of the site's block on this page.
    #[cfg(test)]
    pub(crate) fn template_bytes(&self) -> usize {
        self.template
    }

    /// Writes the text and the links, with a part of the page's own text before each link.
    pub(crate) fn weave(&self, html: &mut Vec<u8>, links: &WrittenLinks) {
        html.extend_from_slice(P);
        SentenceRun::new(self.sentences, self.site, self.template).finish(html);
        let mut own_text = SentenceRun::new(self.sentences, self.page, self.own_bytes);
        let parts = links.ends.len() + 1;
        let mut start = 0;
        for (number, end) in (1..).zip(&links.ends) {
            html.extend_from_slice(P);
            own_text.write_until(self.own_bytes - self.own_bytes * number / parts, html);
            html.extend_from_slice(&links.html.as_bytes()[start..*end]);
            start = *end;
        }
        html.extend_from_slice(P);
        own_text.finish(html);
    }
}

/// Median size and sigma of the pages of one site.
fn site_bytes(world: &World, site: Key) -> (f64, f64) {
    let pages = &world.pages;
    let site_sigma = pages.bytes_site_sigma.min(pages.bytes_sigma);
    let page_sigma = (pages.bytes_sigma * pages.bytes_sigma - site_sigma * site_sigma).sqrt();
    (site.draw("bytes of pages").log_normal(pages.bytes_median, site_sigma), page_sigma)
}

/// Consecutive sentences, starting with a random one.
struct SentenceRun<'t> {
    sentences: &'t [Vec<u8>],
    next_sentence: usize,
    noise: Draw,
    noises: u64,
    /// Bytes still to be written.
    left: usize,
}

impl<'t> SentenceRun<'t> {
    fn new(sentences: &'t [Vec<u8>], key: Key, bytes: usize) -> Self {
        let next_sentence = key.draw("first sentence").below(sentences.len() as u64);
        let next_sentence = usize::try_from(next_sentence).unwrap_or(0);
        Self { sentences, next_sentence, noise: key.draw("letters"), noises: 0, left: bytes }
    }

    /// Writes sentences until at most `left` bytes remain; the last sentence may exceed that.
    fn write_until(&mut self, left: usize, html: &mut Vec<u8>) {
        while self.left > left {
            let sentence = &self.sentences[self.next_sentence % self.sentences.len()];
            let bytes = sentence.len() + NOISE_BYTES;
            if bytes > self.left {
                return;
            }
            html.extend_from_slice(sentence);
            self.push_noise(html);
            self.next_sentence += 1;
            self.left -= bytes;
        }
    }

    /// Writes everything that remains, to the exact byte.
    fn finish(mut self, html: &mut Vec<u8>) {
        self.write_until(0, html);
        while self.left > 0 {
            let part = self.left.min(DOTS.len());
            html.extend_from_slice(&DOTS[..part]);
            self.left -= part;
        }
    }

    fn push_noise(&mut self, html: &mut Vec<u8>) {
        let mut letters = [b' '; NOISE_BYTES];
        for ten in letters[..NOISE_BYTES - 1].chunks_mut(10) {
            self.noises += 1;
            let mut bits = self.noise.nth(self.noises).below(1 << 60);
            for letter in ten {
                *letter = LETTERS[(bits & 63) as usize];
                bits >>= 6;
            }
        }
        html.extend_from_slice(&letters);
    }
}
