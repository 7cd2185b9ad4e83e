#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ccsurvey_fuzz::dns_response(bytes));
