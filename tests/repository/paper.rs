//! The page on the paper's experiment reports the committed results correctly, even if its worlds no longer
//! match their calibration.

use std::path::Path;
use std::process::Command;

/// `reports/paper/run` computes the figures in an hour; `check` judges them again.
#[test]
fn the_page_tells_how_many_anchors_the_mean_of_the_committed_worlds_holds() {
    let paper = Path::new(env!("CARGO_MANIFEST_DIR")).join("reports/paper");
    let output = Command::new("python3").arg(paper.join("check")).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    // If the table contradicts itself, there is no such line.
    let judged = printed.lines().find(|line| line.contains("required anchors hold for the mean"));
    let judged = judged.unwrap_or_else(|| panic!("{printed}{}", String::from_utf8_lossy(&output.stderr)));
    let numbers: Vec<u32> = judged.split(' ').filter_map(|word| word.parse().ok()).collect();
    let &[held, all] = &numbers[..] else { panic!("{judged}") };
    assert_eq!(output.status.success(), held == all, "{printed}");
    let page = std::fs::read_to_string(paper.join("RESULTS.md")).unwrap();
    assert!(page.contains(&format!("Their mean meets {held} of the {all}.")), "{judged}");
    assert!(printed.contains(" worlds meet all anchors; load_at_8 "), "{printed}");
}
