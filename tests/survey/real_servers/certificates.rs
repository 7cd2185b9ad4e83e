use std::fs;
use std::path::Path;
use std::process::Command;

/// Makes `ca.pem`, and `site.pem` with `site.key` for `host`, by OpenSSL: an implementation of TLS
/// certificates that is not ours.
pub(crate) fn make(host: &str, dir: &Path) {
    fs::write(dir.join("site.ext"), format!("subjectAltName=DNS:{host}\n")).unwrap();
    let new_key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
    openssl(dir, &format!("req -x509 {new_key} -days 2 -subj /CN=survey-test-CA -keyout ca.key -out ca.pem"));
    openssl(dir, &format!("req {new_key} -subj /CN={host} -keyout site.key -out site.csr"));
    openssl(dir, "x509 -req -in site.csr -CA ca.pem -CAkey ca.key -days 2 -extfile site.ext -out site.pem");
}

fn openssl(dir: &Path, arguments: &str) {
    let run = Command::new("openssl").args(arguments.split(' ')).current_dir(dir).output();
    let run = run.unwrap_or_else(|error| panic!("cannot run openssl ({error}): run tests/setup first"));
    assert!(run.status.success(), "openssl {arguments}:\n{}", String::from_utf8_lossy(&run.stderr));
}
