//! The surveys that the tests read, each made once; a test that changes one takes a copy.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::common::python::python;

/// The survey of the demonstration, over sockets, which other programs read while it ran.
pub(crate) struct Demo {
    pub dir: PathBuf,
    /// The output of `watch.py` about it.
    pub watched: String,
}

pub(crate) fn demo() -> &'static Demo {
    static DEMO: OnceLock<Demo> = OnceLock::new();
    DEMO.get_or_init(|| {
        // The notebooks print the name of the folder.
        let dir = empty_folder("demo").join("ccsurvey-demo");
        let watched =
            python("report/readers/watch.py", &[env!("CARGO_BIN_EXE_ccsurvey"), dir.to_str().unwrap()]);
        Demo { dir, watched }
    })
}

/// A small survey of a virtual Web, walked in process.
pub(crate) fn small() -> &'static Path {
    static SMALL: OnceLock<PathBuf> = OnceLock::new();
    SMALL.get_or_init(|| {
        let dir = empty_folder("small").join("survey");
        simulate("demo", &dir, &["--depth", "3"]);
        dir
    })
}

/// A survey with all tables.
pub(crate) fn with_pages_recorded() -> &'static Path {
    static RECORDED: OnceLock<PathBuf> = OnceLock::new();
    RECORDED.get_or_init(|| {
        let dir = empty_folder("with-pages-recorded").join("survey");
        simulate("demo", &dir, &["--depth", "2", "--record-links"]);
        // A shallower survey knows other hosts.
        let earlier = dir.with_file_name("earlier");
        simulate("demo", &earlier, &["--depth", "1"]);
        let mut program = Command::new(env!("CARGO_BIN_EXE_ccsurvey"));
        assert!(program.arg("compare").args([&earlier, &dir]).status().unwrap().success());
        dir
    })
}

/// A survey of a virtual Web of three countries that contains all cases that a report distinguishes.
///
/// Depth 4 and 40 requests, so that both cut trees.
pub(crate) fn three_countries() -> &'static Path {
    static THREE: OnceLock<PathBuf> = OnceLock::new();
    THREE.get_or_init(|| {
        let folder = empty_folder("three-countries");
        let [dir, geo] = ["survey", "folder-of-databases/geo.mmdb"].map(|name| folder.join(name));
        fs::create_dir(geo.parent().unwrap()).unwrap();
        let project = Path::new(env!("CARGO_MANIFEST_DIR"));
        fs::copy(project.join("data/demo-geo.mmdb"), &geo).unwrap();
        let world = project.join("tests/worlds/three_countries_share_hosters.toml");
        let flags = ["--geo", geo.to_str().unwrap(), "--depth", "4", "--max-requests", "40"];
        simulate(world.to_str().unwrap(), &dir, &flags);
        dir
    })
}

/// A folder that is kept for inspection until the next run of the tests.
fn empty_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn simulate(world: &str, dir: &Path, flags: &[&str]) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_ccsurvey"));
    let output = program.args(["simulate", world]).arg(dir).args(flags).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
