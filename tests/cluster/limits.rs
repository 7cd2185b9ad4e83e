//! A survey can use the machines of its agents only as far as the flags of each agent permit.

use std::process::Stdio;

use super::processes::coordinator_with;
use crate::common::Space;
use crate::common::bus::{Bus, Process, program};
use crate::common::waiting::until;

/// Exit code and error message of an agent with these flags, to which the survey does not fit.
fn run_agent(bus: &Bus, flags: &[&str]) -> (Option<i32>, String) {
    let mut command = program();
    command.args(["agent", "--nats", &bus.url(), "--name", "one"]).args(flags);
    let done = command.stdout(Stdio::null()).stderr(Stdio::piped()).output().unwrap();
    (done.status.code(), String::from_utf8(done.stderr).unwrap())
}

#[test]
fn an_agent_goes_through_a_gateway_and_to_special_addresses_only_by_its_own_flags() {
    let Some(bus) = Bus::start("cluster_limits") else { return };
    let (space, folder) = (Space::serve("a_small_country"), tempfile::tempdir().unwrap());
    let dir = folder.path().join("survey");
    let _survey = coordinator_with(&space, &bus, &dir, &["--permit-special-addresses"]);
    let gateway = space.gateway();
    for (flags, missing_flag) in [
        (&["--gateway", &gateway][..], "--permit-special-addresses"),
        (&["--permit-special-addresses"], "--gateway 127.0.0.1:"),
    ] {
        let (code, messages) = run_agent(&bus, flags);
        assert!(
            code == Some(2) && messages.contains(missing_flag) && messages.contains("a flag of its own"),
            "{code:?}: {messages}"
        );
    }
    assert!(space.accesses().is_empty(), "nothing was sent");
    let mut command = program();
    command.args(["agent", "--nats", &bus.url(), "--permit-special-addresses", "--gateway", &gateway]);
    let _agent = Process(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    assert!(until(|| space.accesses().len() > 10), "with both it does");
}

#[test]
fn an_agent_trusts_further_certificates_only_by_its_own_flag() {
    let Some(bus) = Bus::start("cluster_certificates") else { return };
    let (space, folder) = (Space::serve("a_small_country"), tempfile::tempdir().unwrap());
    let file = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (roots, others) = (file("ca.pem"), file("others.pem"));
    for path in [&roots, &others] {
        let key = rcgen::KeyPair::generate().unwrap();
        let certificate =
            rcgen::CertificateParams::new(vec!["a.ke".to_owned()]).unwrap().self_signed(&key).unwrap();
        std::fs::write(path, certificate.pem()).unwrap();
    }
    let dir = folder.path().join("survey");
    let _survey = coordinator_with(&space, &bus, &dir, &["--ca", &roots]);
    let gateway = space.gateway();
    for flags in [&["--gateway", &gateway][..], &["--gateway", &gateway, "--ca", &others]] {
        let (code, messages) = run_agent(&bus, flags);
        assert!(
            code == Some(2) && messages.contains("trusts further root certificates"),
            "{code:?}: {messages}"
        );
    }
    let missing = run_agent(&bus, &["--gateway", &gateway, "--ca", &file("gone.pem")]);
    assert!(missing.0 == Some(2) && missing.1.contains("gone.pem"), "{missing:?}");
    assert!(space.accesses().is_empty(), "nothing was sent");
    let mut command = program();
    command.args(["agent", "--nats", &bus.url(), "--gateway", &gateway, "--ca", &others, "--ca", &roots]);
    let _agent = Process(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    assert!(until(|| space.accesses().len() > 10), "with the same file it does");
}

#[test]
fn an_agent_with_a_gateway_takes_no_part_in_a_survey_of_the_real_web() {
    let Some(bus) = Bus::start("cluster_real") else { return };
    let (space, folder) = (Space::serve("a_site_with_one_page"), tempfile::tempdir().unwrap());
    let (dir, start) = (folder.path().join("survey"), folder.path().join("starts"));
    std::fs::write(&start, "http://a.ke/\n").unwrap();
    let mut command = program();
    command.arg("survey").arg(&dir).args(["--cctld", "ke", "--contact", "https://survey.example", "--dns"]);
    command.arg(space.dns()).args(["--nats", &bus.url(), "--start"]).arg(&start);
    let _survey = Process(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let (code, messages) = run_agent(&bus, &["--gateway", &space.gateway()]);
    assert!(code == Some(2) && messages.contains("the survey has no gateway"), "{code:?}: {messages}");
}
