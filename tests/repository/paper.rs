//! What the experiment of the paper gave, as it is committed, holds the anchors of the specification.

use std::path::Path;
use std::process::Command;

/// `reports/paper/run` makes the figures, in half an hour; `check` judges them again.
#[test]
fn the_anchors_of_the_committed_experiment_hold() {
    let check = Path::new(env!("CARGO_MANIFEST_DIR")).join("reports/paper/check");
    let output = Command::new("python3").arg(check).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("required anchors hold"), "{said}");
}
