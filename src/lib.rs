pub mod address;
pub mod exchange;
