use super::values::value::Amount;

/// The rules of a setting, beside its type and its default.
#[derive(Clone, Copy, Debug)]
pub struct SettingRules {
    /// The placeholder for the value in the help: `BYTES|none`.
    pub value_name: &'static str,
    /// Whether a list may be given as one text with commas.
    pub splits_at_commas: bool,
    /// The default in words, if the value itself does not show it; empty: the help shows no default.
    pub(super) unset: Option<&'static str>,
    pub(super) bound: Bound,
    pub(super) on_resume: OnResume,
    pub(super) breaks: Option<(BreakCondition, &'static str)>,
    /// The key in earlier versions; files and flags may still use it.
    pub former_key: Option<&'static str>,
    /// The key of a setting that sets the same otherwise: the two flags are refused together.
    pub excludes: Option<&'static str>,
}

/// Which values are valid.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bound {
    None,
    AboveZero,
    /// A check, and what is expected if it fails.
    Within(fn(Amount) -> bool, &'static str),
    /// At least the bytes of one request: a smaller budget would forbid every request.
    LeastBytes,
    LeastBusy,
}

/// How a resumed survey may change the setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnResume {
    /// Not at all: tables depend on it.
    Fixed,
    /// In any way: neither tables nor promises depend on it.
    Free,
    /// Only in the more polite direction: smaller, or larger.
    Less,
    More,
}

/// When a setting breaks a promise to server owners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BreakCondition {
    LessPolite,
    Lifted,
}

/// The rules of a setting with this value name. By default it has no bound, and a resumed survey must keep
/// it.
pub(super) const fn value(value_name: &'static str) -> SettingRules {
    SettingRules {
        value_name,
        splits_at_commas: false,
        unset: None,
        bound: Bound::None,
        on_resume: OnResume::Fixed,
        breaks: None,
        former_key: None,
        excludes: None,
    }
}

/// The rules of a setting that is on or off.
pub(super) const SWITCH: SettingRules = value("BOOL");

impl SettingRules {
    pub(super) const fn formerly(self, key: &'static str) -> Self {
        Self { former_key: Some(key), ..self }
    }

    pub(super) const fn excludes(self, key: &'static str) -> Self {
        Self { excludes: Some(key), ..self }
    }

    pub(super) const fn commas(self) -> Self {
        Self { splits_at_commas: true, ..self }
    }

    pub(super) const fn unset(self, words: &'static str) -> Self {
        Self { unset: Some(words), ..self }
    }

    pub(super) const fn above_zero(self) -> Self {
        Self { bound: Bound::AboveZero, ..self }
    }

    pub(super) const fn within(self, holds: fn(Amount) -> bool, expected: &'static str) -> Self {
        Self { bound: Bound::Within(holds, expected), ..self }
    }

    /// A budget of bytes.
    pub(super) const fn least_bytes(self) -> Self {
        Self { bound: Bound::LeastBytes, ..self }
    }

    /// A budget of busy time.
    pub(super) const fn least_busy(self) -> Self {
        Self { bound: Bound::LeastBusy, ..self }
    }

    pub(super) const fn free(self) -> Self {
        Self { on_resume: OnResume::Free, ..self }
    }

    pub(super) const fn lower_is_more_polite(self) -> Self {
        Self { on_resume: OnResume::Less, ..self }
    }

    pub(super) const fn higher_is_more_polite(self) -> Self {
        Self { on_resume: OnResume::More, ..self }
    }

    /// Any value that is less polite than the default breaks the promise: pauses and slots concern every
    /// server.
    pub(super) const fn breaks_if_less_polite(self, promise: &'static str) -> Self {
        Self { breaks: Some((BreakCondition::LessPolite, promise)), ..self }
    }

    /// Lifting the limit breaks the promise. Raising it does not: the pauses still hold.
    pub(super) const fn breaks_if_lifted(self, promise: &'static str) -> Self {
        Self { breaks: Some((BreakCondition::Lifted, promise)), ..self }
    }
}

/// Turns a field name such as `max_bytes` into the key for files and flags, `max-bytes`.
pub(super) const fn kebab<const LENGTH: usize>(name: &str) -> [u8; LENGTH] {
    let mut key = [b'-'; LENGTH];
    let mut at = 0;
    while at < LENGTH {
        if name.as_bytes()[at] != b'_' {
            key[at] = name.as_bytes()[at];
        }
        at += 1;
    }
    key
}

/// Declares the settings once: the struct with its defaults, and the table of `Setting`s from which all else
/// follows.
///
/// The doc comment of a setting is its help; the help adds the default. A setting is a field of its own name
/// or, after `in`, a part of one field that holds many.
macro_rules! settings {
    (
        $(#[doc = $about:literal])+
        $(
            $group:literal {
                $(
                    $(#[doc = $help:literal])+
                    $field:ident: $type:ty $(as $way:ident)? = $default:expr => $rules:expr;
                )*
            }
            $(in $whole:ident: $whole_type:ty {
                $(
                    $(#[doc = $part_help:literal])+
                    $name:ident = $place:ident . $per:ident . $unit:ident: $part:ty => $part_rules:expr;
                )*
            })?
        )+
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq)]
        pub struct Settings {
            $(
                $($(#[doc = $help])+ pub $field: $type,)*
                $(#[doc = "Each part is a setting."] pub $whole: $whole_type,)?
            )+
        }

        impl Default for Settings {
            fn default() -> Self {
                Self { $($($field: $default,)* $($whole: <$whole_type>::default(),)?)+ }
            }
        }

        impl Settings {
            /// Every setting, in the order of the help and of files.
            #[expect(clippy::large_stack_arrays, reason = "a constant is on no stack")]
            pub const TABLE: &'static [Setting] = &[
                $(
                    $(settings!(@setting $group, concat!($($help),+), $field, $rules, $type,
                        settings!(@way $($way)?), $field),)*
                    $($(settings!(@setting $group, concat!($($part_help),+), $name, $part_rules, $part,
                        settings!(@way OrNone), $whole.$place.$per.$unit),)*)?
                )+
            ];
        }
    };
    (@way) => { $crate::settings::values::value::Plain };
    (@way $way:ident) => { $crate::settings::$way };
    (@setting $group:literal, $help:expr, $name:ident, $rules:expr, $type:ty, $way:ty, $($field:ident).+) => {
        Setting {
            key: {
                const KEY: [u8; stringify!($name).len()] = $crate::settings::table::kebab(stringify!($name));
                match str::from_utf8(&KEY) {
                    Ok(key) => key,
                    Err(_) => stringify!($name),
                }
            },
            group: $group,
            rules: $rules,
            shape: <$type as $crate::settings::values::value::Value<$way>>::SHAPE,
            is_list: <$type as $crate::settings::values::value::Value<$way>>::IS_LIST,
            help: $help.trim_ascii(),
            written: |settings| {
                <$type as $crate::settings::values::value::Value<$way>>::written(&settings.$($field).+)
            },
            read: |settings, written| {
                settings.$($field).+ = <$type as $crate::settings::values::value::Value<$way>>::read(written)?;
                Ok(())
            },
            amount: |settings| {
                <$type as $crate::settings::values::value::Value<$way>>::amount(&settings.$($field).+)
            },
            describe: |settings| {
                <$type as $crate::settings::values::value::Value<$way>>::describe(&settings.$($field).+)
            },
            move_paths: |settings, to| {
                <$type as $crate::settings::values::value::Value<$way>>::move_paths(&mut settings.$($field).+, to);
            },
        }
    };
}

pub(super) use settings;
