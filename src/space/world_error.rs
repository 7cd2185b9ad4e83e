/// Why a text is not a world. Each says where, what stands there, and what may stand there.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum WorldError {
    #[error("line {line}: not TOML: {message}")]
    Syntax { line: usize, message: String },
    #[error("line {line}: unknown key '{key}' (known here: {known})")]
    UnknownKey { line: usize, key: String, known: String },
    #[error("line {line}: '{key}' is {value}, expected {expected}")]
    Value { line: usize, key: String, value: String, expected: String },
    #[error("line {line}: in [{table}], {keys} sum to {sum}, expected {expected}")]
    Sum { line: usize, table: &'static str, keys: &'static str, sum: String, expected: &'static str },
}
