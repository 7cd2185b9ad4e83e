//! The settings of a survey, each declared once.
//!
//! `declared` is the table. A row has the key, the type, the default with its reason, the help with the cost
//! for servers, the bounds, the direction that is more polite, whether a resumed survey may change it, and
//! which promise it breaks when it is less polite than the default. [`Settings`] and its defaults are made
//! from the table, and so are
//! - the flags: `cli` turns each [`Setting`] of [`Settings::TABLE`] into one, and [`Setting::parse_flag`]
//!   reads its value;
//! - `survey.toml` and the user's file: [`Settings::parse`], and how settings are written (`file`);
//! - the checks: [`Settings::refusal`] names the flag, its value and what is expected;
//! - what a resumed survey may change: [`first_forbidden_change`], [`with_changes`];
//! - the settings that are less polite than promised to server owners: [`impolite`].
//!
//! **The life of a setting.** A user types it, or writes it into a file. It becomes [`Written`], which has
//! text, numbers and lists and knows no settings. The type of its row reads it, or says what it expected. The
//! value is then written to `survey.toml` and to the manifest, from where a resumed survey reads it.
//!
//! To add a setting, add its row. A new type of value declares how it is written and read, in `values` or
//! where the type is declared.
//!
//! This room reads no file and no clock, and does not act on any setting: other rooms do.

mod bounds;
mod budgets;
mod changes;
mod check;
mod contact;
mod declared;
mod file;
mod flag;
mod how_deep;
mod impolite;
mod pace;
mod survey;
mod table;
mod values;

pub use bounds::{Budget, LoadLimits, SharedBudget};
pub use budgets::{Allowance, Budgets, LoadBudget};
pub use changes::{Change, first_forbidden_change, with_changes};
pub use check::SmallestBudgets;
pub use declared::{Setting, Settings};
pub use file::FLAGS_ONLY;
pub use impolite::{LessPolite, impolite};
pub use pace::{LONGEST_WAIT, Pace};
pub use survey::ENTRANCES;
pub use table::SettingRules;
pub use values::Choice;
pub use values::depth_rule::DepthRule;
pub use values::entrances::{Entrances, FeedBackRule};
pub use values::non_html::{Extension, NON_HTML_EXTENSIONS, NonHtml};
pub use values::quantities::{LimitOrNone, OrNone, Size, Span};
pub use values::quiet_hours::QuietHours;
pub use values::request_budget::RequestBudget;
pub use values::value::{Amount, NewPath, Plain, Value, ValueSyntax, typed};
pub use values::written::{Refusal, Written};
