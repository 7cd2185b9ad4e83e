use std::ffi::{OsStr, OsString};

/// The arguments of the program in the form that `clap` needs: a negative value is joined to its flag,
/// `--depth -1` to `--depth=-1`.
///
/// `clap` takes any argument with a leading dash for a flag, so its message would be about a flag that does
/// not exist. Flags that accept any value with a dash would swallow the next flag where a value is missing:
/// `--start --depth 3`.
pub(in crate::cli) fn with_negative_values(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    let mut is_after_flags = false;
    for argument in arguments {
        is_after_flags |= argument == "--";
        match joined.last_mut().filter(|last| !is_after_flags && is_bare_flag(last)) {
            Some(flag) if is_negative(&argument) => {
                flag.push("=");
                flag.push(argument);
            }
            _ => joined.push(argument),
        }
    }
    joined
}

fn is_bare_flag(argument: &OsStr) -> bool {
    let bytes = argument.as_encoded_bytes();
    bytes.len() > 2 && bytes.starts_with(b"--") && !bytes.contains(&b'=')
}

/// `-1`, `-0.5s`, `-.5`: no flag of this program begins like this.
fn is_negative(argument: &OsStr) -> bool {
    match argument.as_encoded_bytes() {
        [b'-', b'.', digit, ..] | [b'-', digit, ..] => digit.is_ascii_digit(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(arguments: &str) -> String {
        let rewritten = with_negative_values(arguments.split(' ').map(OsString::from));
        rewritten.join(OsStr::new(" ")).into_string().unwrap()
    }

    #[test]
    fn a_negative_value_goes_to_its_flag() {
        assert_eq!(joined("survey d --depth -1 --min-delay -1s"), "survey d --depth=-1 --min-delay=-1s");
        assert_eq!(joined("survey --probe-scripts -.5 d"), "survey --probe-scripts=-.5 d");
    }

    #[test]
    fn all_else_stays_as_it_is() {
        for arguments in [
            "survey d --start --depth 3",
            "report d -o - --by cctld",
            "survey --depth=3 -1",
            "status -1",
            "status --json -- -1",
            "export d -o -1",
        ] {
            assert_eq!(joined(arguments), arguments);
        }
    }
}
