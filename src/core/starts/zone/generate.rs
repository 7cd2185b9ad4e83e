pub(super) const NO_RANGE: &str =
    "invalid $GENERATE: expected a range such as 1-9 or 0-8/2, an owner with $, and a type";

/// The numbers of `start-stop` or `start-stop/step`, and their count.
pub(super) fn range_of(text: &str) -> Option<(impl Iterator<Item = u32> + use<>, u64)> {
    let (range, step) = text.split_once('/').unwrap_or((text, "1"));
    let (start, stop) = range.split_once('-')?;
    let (start, stop, step): (u32, u32, u32) = (start.parse().ok()?, stop.parse().ok()?, step.parse().ok()?);
    if start > stop || step == 0 {
        return None;
    }
    let count = u64::from((stop - start) / step) + 1;
    Some(((start..=stop).step_by(step as usize), count))
}

/// The owner that `$GENERATE` makes for a number, as in BIND: `$` is the number, `${offset,width,base}`
/// another format of it, and `$$` or `\$` a dollar sign.
pub(super) fn with_number(owner: &str, number: u32) -> Option<String> {
    let mut generated = String::new();
    let mut rest = owner;
    while let Some(at) = rest.find(['$', '\\']) {
        generated.push_str(&rest[..at]);
        let following = &rest[at + 1..];
        rest = if rest[at..].starts_with('\\') {
            let escaped = following.chars().next()?;
            if escaped != '$' {
                generated.push('\\');
            }
            generated.push(escaped);
            &following[escaped.len_utf8()..]
        } else if let Some(following) = following.strip_prefix('$') {
            generated.push('$');
            following
        } else if let Some(form) = following.strip_prefix('{') {
            let (form, following) = form.split_once('}')?;
            generated.push_str(&formatted(number, form)?);
            following
        } else {
            generated.push_str(&number.to_string());
            following
        };
    }
    generated.push_str(rest);
    Some(generated)
}

/// Formats a number as `offset[,width[,base]]` says.
fn formatted(number: u32, form: &str) -> Option<String> {
    let mut parts = form.split(',');
    let offset: i64 = parts.next()?.parse().ok()?;
    let width: usize = parts.next().unwrap_or("0").parse().ok()?;
    let base = parts.next().unwrap_or("d");
    let value = u64::try_from(i64::from(number) + offset).ok()?;
    if width > crate::address::MAX_NAME_BYTES || parts.next().is_some() {
        return None;
    }
    Some(match base {
        "d" => format!("{value:0width$}"),
        "o" => format!("{value:0width$o}"),
        // Host names have no capitals.
        "x" | "X" => format!("{value:0width$x}"),
        "n" | "N" => nibbles(value, width),
        _ => return None,
    })
}

/// The hexadecimal digits as labels, the last first; the dots between them count towards the width.
fn nibbles(value: u64, width: usize) -> String {
    let digits: Vec<char> = format!("{value:0least$x}", least = width.div_ceil(2)).chars().rev().collect();
    digits.iter().map(char::to_string).collect::<Vec<_>>().join(".")
}
