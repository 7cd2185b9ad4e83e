/// The number of words in a shingle: the smallest that distinguishes a phrase from a list of words. Broder
/// (1997, resemblance of documents) uses three to ten.
const SHINGLE_WORDS: usize = 3;
/// FNV-1a: one byte per step, and words are short.
const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

const fn fnv(sum: u64, byte: u8) -> u64 {
    (sum ^ byte as u64).wrapping_mul(FNV_PRIME)
}

/// The bytes that continue a word, in lower case; 0 for bytes that end it. A word begins with any of these
/// that does not continue a character. Most bytes of a page are in words.
const IN_WORDS: [u8; 256] = {
    let mut bytes = [0; 256];
    let mut byte = 0_u8;
    loop {
        if byte.is_ascii_alphanumeric() || matches!(byte, 0x80..=0xe2 | 0xee..) {
            bytes[byte as usize] = byte.to_ascii_lowercase();
        }
        if byte == u8::MAX {
            break bytes;
        }
        byte += 1;
    }
};

/// The `SimHash` of a text, computed while the text is read (Charikar 2002). Texts that share most of their
/// shingles have values that differ in few of 64 bits; Manku, Jain and Das Sarma (2007) use 3 for near
/// duplicates.
///
/// A word is a run of letters and digits in lower case, including non-ASCII bytes; each Chinese, Japanese or
/// Korean character is a word by itself. Time is linear in the text, memory constant.
pub(super) struct SimHash {
    /// The number of shingles that have each bit set.
    ones: BitCounts,
    shingles: u32,
    /// Hashes of the last words, of zero words up to those of a shingle: when a word arrives, each is
    /// computed from the one before.
    last: [u64; SHINGLE_WORDS + 1],
    words: u64,
    word: u64,
    state: State,
}

/// What the previous byte belonged to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Between,
    Word,
    /// A character that is a word by itself.
    Sign,
}

impl Default for SimHash {
    fn default() -> Self {
        Self {
            ones: BitCounts::default(),
            shingles: 0,
            last: [0; SHINGLE_WORDS + 1],
            words: 0,
            word: FNV_START,
            state: State::Between,
        }
    }
}

impl SimHash {
    /// Adds a piece of UTF-8 text, which may begin or end within a word or a character.
    pub(super) fn push(&mut self, piece: &[u8]) {
        let mut unread = piece;
        loop {
            if self.state == State::Word {
                unread = self.read_word(unread);
            }
            let [byte, rest @ ..] = unread else { return };
            match byte {
                // The first bytes of U+3000 to U+DFFF: kana, Chinese characters, Hangul.
                0xe3..=0xed => self.begin(*byte, State::Sign),
                0x80..=0xbf => self.add(*byte),
                byte if IN_WORDS[usize::from(*byte)] != 0 => self.begin(*byte, State::Word),
                _ => self.end_word(),
            }
            unread = rest;
        }
    }

    /// Continues a word, and returns the bytes after it.
    fn read_word<'a>(&mut self, piece: &'a [u8]) -> &'a [u8] {
        let (mut word, mut read) = (self.word, 0);
        while let Some(byte) = piece.get(read)
            && IN_WORDS[usize::from(*byte)] != 0
        {
            word = fnv(word, IN_WORDS[usize::from(*byte)]);
            read += 1;
        }
        self.word = word;
        &piece[read..]
    }

    /// Ends the current word, as a tag does.
    pub(super) fn end_word(&mut self) {
        if self.state == State::Between {
            return;
        }
        self.state = State::Between;
        let before = self.last;
        for (last, before) in self.last[1..].iter_mut().zip(before) {
            *last = mixed(before.rotate_left(21) ^ self.word);
        }
        self.words += 1;
        if self.words >= SHINGLE_WORDS as u64 {
            self.count();
        }
    }

    /// The number of words so far.
    pub(super) fn words(&self) -> u32 {
        let words = self.words + u64::from(self.state != State::Between);
        u32::try_from(words).unwrap_or(u32::MAX)
    }

    /// The value; none for a text without a word. A text shorter than a shingle counts as one shingle.
    pub(super) fn finish(mut self) -> Option<u64> {
        self.end_word();
        if self.shingles == 0 && self.words > 0 {
            self.count();
        }
        let ones = self.ones.all();
        let is_common = |bit: &u32| 2 * ones.count_of(*bit) > u64::from(self.shingles);
        (self.shingles > 0).then(|| (0..u64::BITS).filter(is_common).map(|bit| 1 << bit).sum())
    }

    fn begin(&mut self, byte: u8, state: State) {
        self.end_word();
        self.state = state;
        self.word = FNV_START;
        self.add(byte);
    }

    fn add(&mut self, byte: u8) {
        if self.state != State::Between {
            self.word = fnv(self.word, byte.to_ascii_lowercase());
        }
    }

    fn count(&mut self) {
        self.shingles = self.shingles.saturating_add(1);
        self.ones.add(self.last[SHINGLE_WORDS]);
    }
}

/// The number of added values that have each bit set: 64 binary counters side by side.
///
/// Values are added eight at a time, in steps that do not depend on the values: no branch waits for the
/// result of a hash.
#[derive(Clone, Copy, Default)]
struct BitCounts {
    digits: Digits,
    waiting: [u64; EIGHT],
    count: usize,
}

const EIGHT: usize = 8;

impl BitCounts {
    fn add(&mut self, value: u64) {
        self.waiting[self.count] = value;
        self.count += 1;
        if self.count == EIGHT {
            self.digits.add_eight(&self.waiting);
            self.count = 0;
        }
    }

    /// The counters including the waiting values.
    fn all(&self) -> Digits {
        let mut digits = self.digits;
        self.waiting[..self.count].iter().for_each(|value| digits.add(0, *value));
        digits
    }
}

/// 64 binary counters; element n holds digit n of all of them.
#[derive(Clone, Copy, Default)]
struct Digits([u64; u32::BITS as usize]);

impl Digits {
    /// Adds 2ⁿ to each counter whose bit is set, carrying as far as any carries.
    fn add(&mut self, n: usize, bits: u64) {
        let mut carry = bits;
        for digit in &mut self.0[n..] {
            if carry == 0 {
                return;
            }
            (*digit, carry) = (*digit ^ carry, *digit & carry);
        }
    }

    /// Seven full adders in place of eight sums (Harley and Seal).
    fn add_eight(&mut self, values: &[u64; EIGHT]) {
        let (pairs, _) = values.as_chunks();
        let mut twos = [0; EIGHT / 2];
        for (carried, pair) in twos.iter_mut().zip(pairs) {
            *carried = self.full_add(0, *pair);
        }
        let [first, second, third, fourth] = twos;
        let fours = [[first, second], [third, fourth]].map(|pair| self.full_add(1, pair));
        let eights = self.full_add(2, fours);
        self.add(3, eights);
    }

    /// Adds two bits to digit n of each counter, and returns the carry to the next digit.
    fn full_add(&mut self, n: usize, [one, other]: [u64; 2]) -> u64 {
        let digit = self.0[n];
        let differ = one ^ other;
        self.0[n] = digit ^ differ;
        one & other | digit & differ
    }

    fn count_of(&self, bit: u32) -> u64 {
        self.0.iter().enumerate().map(|(n, digit)| (digit >> bit & 1) << n).sum()
    }
}

/// Spreads each bit over all (the last steps of `MurmurHash3`).
fn mixed(mut value: u64) -> u64 {
    value = (value ^ value >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    value = (value ^ value >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    value ^ value >> 33
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hash_of(text: &str) -> Option<u64> {
        let mut hash = SimHash::default();
        hash.push(text.as_bytes());
        hash.finish()
    }

    fn differing(one: &str, other: &str) -> u32 {
        (hash_of(one).unwrap() ^ hash_of(other).unwrap()).count_ones()
    }

    fn words(from: usize) -> String {
        (from..from + 3000).map(|n| format!("word{n} ")).collect()
    }

    #[test]
    fn near_duplicates_differ_in_few_bits_and_other_texts_in_many() {
        let text = words(0);
        assert!(differing(&text, &format!("{text} visitors 1207")) <= 3);
        assert!(differing(&text, &words(5000)) > 15);
        assert!(differing(&text, &format!("word0 word1 {}", words(5000))) > 15);
    }

    /// Values must be stable, because tables of different years are compared. These come from a separate
    /// program, a few lines of Python.
    #[test]
    fn the_value_of_a_text_never_changes() {
        for (text, value) in [
            ("habari", 0x6b09_8eca_00a8_b9b7),
            ("Habari za asubuhi", 0x73b3_2d8d_d7bc_2c3b),
            ("Habari za asubuhi, kwenu", 0x1083_290c_8100_0c1b),
            ("habari za asubuhi kwenu nyote!", 0x9293_39bc_d504_8d1b),
        ] {
            assert_eq!(hash_of(text), Some(value), "{text}");
        }
    }

    #[test]
    fn signs_case_and_spaces_do_not_count_and_every_japanese_sign_is_a_word() {
        assert_eq!(hash_of("One, two; THREE!"), hash_of("  one two three "));
        assert_ne!(hash_of("one two three"), hash_of("three two one"));
        assert_ne!(hash_of("été"), hash_of("ètè"));
        let text =
            "資料の貸出は一人五冊までです。月曜日は休館となります。地図と新聞は二階の奥にまとめておきます。";
        assert!(differing(&text.repeat(3), &format!("{}本", text.repeat(3))) <= 3);
    }

    #[test]
    fn a_text_without_words_has_none_and_a_short_one_is_one_shingle() {
        assert_eq!(hash_of(" \n\u{7f}--"), None);
        assert!(hash_of("x").is_some() && hash_of("x") != hash_of("x x"));
    }

    proptest! {
        #[test]
        fn bits_are_counted_as_one_by_one(values in prop::collection::vec(any::<u64>(), 0..300)) {
            let mut counts = BitCounts::default();
            values.iter().for_each(|value| counts.add(*value));
            for bit in 0..u64::BITS {
                let ones = values.iter().filter(|value| *value >> bit & 1 == 1).count();
                prop_assert_eq!(counts.all().count_of(bit), ones as u64);
            }
        }

        #[test]
        fn any_bytes_have_one_in_any_pieces(bytes in prop::collection::vec(any::<u8>(), 0..300), cut in 0usize..300) {
            let (mut whole, mut pieces) = (SimHash::default(), SimHash::default());
            whole.push(&bytes);
            let (one, other) = bytes.split_at(cut.min(bytes.len()));
            pieces.push(one);
            pieces.push(other);
            // The work is one step per byte, and at most 32 per shingle.
            prop_assert!(whole.shingles as usize <= bytes.len());
            prop_assert_eq!(whole.finish(), pieces.finish());
        }
    }
}
