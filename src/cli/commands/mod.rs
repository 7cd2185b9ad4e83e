//! The commands, one file each: arguments, help and code.

/// `ccsurvey add`.
pub mod add;
/// `ccsurvey agent`.
pub mod agent;
pub mod choose_depth;
/// `ccsurvey compare`.
pub mod compare;
/// `ccsurvey demo`.
pub mod demo;
/// `ccsurvey export`.
pub mod export;
/// `ccsurvey learn`.
pub mod learn;
/// The process that reads one response in quarantine.
pub mod read_answer;
/// `ccsurvey report`.
pub mod report;
/// `ccsurvey resume`.
pub mod resume;
pub mod simulate;
pub mod space;
/// `ccsurvey status`.
pub mod status;
/// `ccsurvey survey`.
pub mod survey;
