//! What the experiment of the paper gave, as it is committed, is what its worlds were calibrated to.

use std::path::Path;
use std::process::Command;

/// `reports/paper/run` makes the figures, in an hour; `check` judges them again.
#[test]
fn the_mean_of_the_committed_worlds_holds_the_anchors_and_single_worlds_are_counted() {
    let check = Path::new(env!("CARGO_MANIFEST_DIR")).join("reports/paper/check");
    let output = Command::new("python3").arg(check).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("required anchors hold for the mean"), "{said}");
    assert!(said.contains(" worlds meet all anchors; load_at_8 "), "{said}");
}
