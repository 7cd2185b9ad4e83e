use std::path::Path;
use std::process::Command;

use crate::common::python::interpreter;

/// There are no pauses, so that connections are kept wherever servers permit it.
#[test]
fn every_page_is_read_however_servers_end_their_connections() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/survey/real_servers/kept_connections.py");
    let mut command = Command::new(interpreter());
    let run = command.arg("-B").arg(script).arg(env!("CARGO_BIN_EXE_ccsurvey")).output();
    let run = run.unwrap_or_else(|error| panic!("cannot run Python ({error}): run tests/setup first"));
    let (printed, errors) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{printed}{errors}");
    print!("{printed}");
}
