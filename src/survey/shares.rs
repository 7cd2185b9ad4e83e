use std::sync::Arc;

use super::error::SurveyError;
use crate::load::{Burden, Networks, SharedBudget};
use crate::records::Geo;
use crate::settings::{Allowance, Bearable, Settings, Size, Span};

/// What one place may bear.
pub(super) fn budget(allowance: &Allowance) -> SharedBudget {
    SharedBudget { per_day: burden(&allowance.per_day), in_all: burden(&allowance.in_all) }
}

/// The networks with what they may bear; autonomous systems can be bounded if a database knows them.
pub(super) fn networks(settings: &Settings, geo: &Arc<Geo>) -> Result<Networks, SurveyError> {
    if let Some(flag) = settings.bound_of_systems().filter(|_| !geo.knows_systems()) {
        return Err(SurveyError::SystemsUnknown { flag });
    }
    let system_of = {
        let geo = geo.clone();
        Box::new(move |address| geo.lookup(address).asn)
    };
    let [network, system] = [&settings.budgets.network, &settings.budgets.system].map(budget);
    Ok(Networks::new(network, system, system_of))
}

fn burden(bearable: &Bearable) -> Burden {
    let Bearable { requests, bytes, busy } = *bearable;
    Burden { requests, bytes: bytes.map(|Size(bytes)| bytes), busy: busy.map(|Span(time)| time) }
}
