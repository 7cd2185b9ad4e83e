/// The whole numbers that settings are, each with its bounds in words.
pub trait Whole: TryFrom<u64> {
    const MOST: u64;

    /// `a whole number from 0 to 65535`.
    #[must_use]
    fn expected() -> String {
        format!("a whole number from 0 to {}", Self::MOST)
    }
}

macro_rules! whole {
    ($($type:ty),*) => {
        $(impl Whole for $type {
            const MOST: u64 = <$type>::MAX as u64;
        })*

        /// What is expected where `serde` says that a type of this program is: `u16`.
        pub(super) fn expected_of(type_name: &str) -> Option<String> {
            $(if type_name == stringify!($type) {
                return Some(<$type>::expected());
            })*
            None
        }
    };
}

whole!(u16, u32, u64, usize);
