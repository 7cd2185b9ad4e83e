//! The data dictionary in `reports/` equals the one that the code generates.

use std::path::Path;

use ccsurvey::records::dictionary_markdown;

/// To regenerate it after a change of columns: `CCSURVEY_WRITE=1 cargo test --test repository dictionary`.
#[test]
fn the_data_dictionary_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("reports/data-dictionary.md");
    let fresh = dictionary_markdown();
    if std::env::var_os("CCSURVEY_WRITE").is_some() {
        std::fs::write(&path, &fresh).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), fresh, "{}", path.display());
}
