//! Certificates and keys that a TLS library refuses but browsers or curl tolerate, presented by openssl's
//! server (`tests/setup` installs it): the page is read, and `tls_error` names the defect.
#![allow(clippy::disallowed_methods)] // The test waits for servers, with a deadline.

use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use ccsurvey::address::{OptOuts, WebUrl};
use ccsurvey::exchange::{Depth, Failure, Purpose, Request, Response};
use ccsurvey::fetch::{Clock, Fetcher, Settings};
use tempfile::TempDir;

use crate::common::ports::free_port;
use crate::common::waiting::until;

const ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 0, 1, 10);

/// An openssl server with a key of some kind, certified by its own authority.
struct Server {
    process: Child,
    port: u16,
    folder: TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn openssl(folder: &Path, arguments: &str) {
    let done = Command::new("openssl")
        .args(arguments.split(' '))
        .current_dir(folder)
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .status();
    assert!(done.expect("this test needs the program openssl").success(), "{arguments}");
}

impl Server {
    fn start_with(key: &str, further: &str, flags: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        openssl(
            folder.path(),
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=authority -keyout ca.key -out ca.pem",
        );
        let extensions = "-addext subjectAltName=DNS:odd.ke -addext basicConstraints=critical,CA:FALSE";
        let issuer = if further.contains("-self") { "" } else { "-CA ca.pem -CAkey ca.key " };
        let further = further.replace("-self", "");
        let rest = format!("-nodes -subj /CN=odd.ke {extensions} -keyout key.pem -out cert.pem {further}");
        openssl(folder.path(), format!("req -x509 {issuer}-newkey {key} {rest}").trim_end());
        let port = free_port(ADDRESS);
        let process = Command::new("openssl")
            .args(["s_server", "-quiet", "-www", "-accept", &format!("{ADDRESS}:{port}")])
            .args(["-key", "key.pem", "-cert", "cert.pem", "-cipher", "DEFAULT:@SECLEVEL=0"])
            .args(flags.split(' '))
            .current_dir(&folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        until(|| TcpStream::connect((ADDRESS, port)).is_ok());
        Self { process, port, folder }
    }

    async fn front_page(&self, settings: Settings) -> Response {
        let extra_roots = vec![self.folder.path().join("ca.pem")];
        let settings = Settings { permit_special_addresses: true, extra_roots, ..settings };
        let fetcher = Fetcher::new(settings, Arc::new(OptOuts::default()), Clock::system()).unwrap();
        let url = WebUrl::parse(&format!("https://odd.ke:{}/", self.port)).unwrap();
        let request = Request { number: 0, url, purpose: Purpose::Page, depth: Some(Depth(0)) };
        fetcher.fetch(&request, ADDRESS.into(), u64::MAX).await.0
    }
}

#[tokio::test]
async fn a_page_is_read_whatever_the_key_is_and_what_is_wrong_with_it_told() {
    for (key, further, flags, defect) in [
        ("ec -pkeyopt ec_paramgen_curve:P-384", "", "-tls1_3", None),
        ("rsa:1024", "", "-tls1_2", Some("weak_key")),
        ("rsa:1024", "", "-tls1_3", Some("weak_key")),
        ("rsa:1024", "-self", "-tls1_3", Some("self_signed")),
        ("rsa:768", "", "-tls1_2", Some("weak_key")),
        ("rsa:512", "", "-tls1_2", Some("weak_key")),
        ("ec -pkeyopt ec_paramgen_curve:P-521", "", "-tls1_3", Some("unverified_key")),
        ("ed448", "", "-tls1_3", Some("unverified_key")),
        ("rsa-pss -pkeyopt rsa_keygen_bits:2048", "", "-tls1_3", None),
        ("rsa:2048", "", "-tls1_2 -sigalgs RSA+SHA1", None),
        ("rsa:2048", "-sha1 -self", "-tls1_3", Some("self_signed")),
        ("rsa:2048", "-addext 1.3.6.1.4.1.32473.1=critical,DER:0500", "-tls1_3", Some("critical_extension")),
        ("rsa:2048", "-set_serial -5", "-tls1_3", None),
        (
            "rsa:2048",
            "-set_serial 0x123456789012345678901234567890123456789012345678901234567890",
            "-tls1_3",
            None,
        ),
    ] {
        let case = format!("{key} {further} {flags}");
        let server = Server::start_with(key, further, flags);
        let response = server.front_page(Settings::default()).await;
        assert_eq!((response.failure, response.status), (None, Some(200)), "{case}");
        assert_eq!(response.tls_error.as_deref(), defect, "{case}");
        let strict = Settings { refuse_bad_certificates: true, ..Settings::default() };
        let refused = server.front_page(strict).await.failure;
        let is_refused = matches!(refused, Some(Failure::TlsCertificate | Failure::TlsAlert));
        assert!(is_refused || defect.is_none(), "{case}: {refused:?}");
    }
}
