use std::sync::Arc;

use super::error::SurveyError;
use super::settings::Settings;
use super::values::{Size, Span};
use crate::load::{Burden, Networks, SharedBudget};
use crate::records::Geo;

/// What one server address may bear.
pub(super) fn of_server(settings: &Settings) -> SharedBudget {
    SharedBudget {
        per_day: burden(
            settings.max_server_requests_per_day,
            settings.max_server_bytes_per_day,
            settings.max_server_busy_per_day,
        ),
        in_all: burden(settings.max_server_requests, settings.max_server_bytes, settings.max_server_busy),
    }
}

/// What one neighbourhood of addresses may bear.
pub(super) fn of_network(settings: &Settings) -> SharedBudget {
    SharedBudget {
        per_day: burden(
            settings.max_network_requests_per_day,
            settings.max_network_bytes_per_day,
            settings.max_network_busy_per_day,
        ),
        in_all: burden(settings.max_network_requests, settings.max_network_bytes, settings.max_network_busy),
    }
}

/// What one autonomous system may bear.
pub(super) fn of_system(settings: &Settings) -> SharedBudget {
    SharedBudget {
        per_day: burden(
            settings.max_as_requests_per_day,
            settings.max_as_bytes_per_day,
            settings.max_as_busy_per_day,
        ),
        in_all: burden(settings.max_as_requests, settings.max_as_bytes, settings.max_as_busy),
    }
}

/// The networks with what they may bear; autonomous systems can be bounded if a database knows them.
pub(super) fn networks(settings: &Settings, geo: &Arc<Geo>) -> Result<Networks, SurveyError> {
    if let Some(flag) = bound_of_systems(settings).filter(|_| !geo.knows_systems()) {
        return Err(SurveyError::SystemsUnknown { flag });
    }
    let system_of = {
        let geo = geo.clone();
        Box::new(move |address| geo.lookup(address).asn)
    };
    Ok(Networks::new(of_network(settings), of_system(settings), system_of))
}

/// A flag that bounds what autonomous systems bear, if there is one.
fn bound_of_systems(settings: &Settings) -> Option<&'static str> {
    let flags = [
        ("max-as-requests", settings.max_as_requests.is_some()),
        ("max-as-bytes", settings.max_as_bytes.is_some()),
        ("max-as-busy", settings.max_as_busy.is_some()),
        ("max-as-requests-per-day", settings.max_as_requests_per_day.is_some()),
        ("max-as-bytes-per-day", settings.max_as_bytes_per_day.is_some()),
        ("max-as-busy-per-day", settings.max_as_busy_per_day.is_some()),
    ];
    flags.into_iter().find_map(|(flag, is_given)| is_given.then_some(flag))
}

fn burden(requests: Option<u64>, bytes: Option<Size>, busy: Option<Span>) -> Burden {
    Burden { requests, bytes: bytes.map(|Size(bytes)| bytes), busy: busy.map(|Span(time)| time) }
}
