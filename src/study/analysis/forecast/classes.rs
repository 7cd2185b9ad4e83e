use crate::analysis::MeasuredServer;

/// Classes of servers by throughput, from the slowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerClass {
    /// Below 64 kbit/s, which is one channel of ISDN (ITU-T I.412): modems, crowded links.
    Narrow,
    /// From 64 to 512 kbit/s: a campus behind a satellite link; one that was measured had 537 kbit/s.
    Thin,
    /// From 512 kbit/s to 4 Mbit/s, the lower limit of broadband (FCC, Sixth Broadband Deployment Report,
    /// 2010).
    Middling,
    /// At least 4 Mbit/s.
    Broad,
    /// No response, or none that was long enough to measure.
    Unmeasured,
}

/// The upper ends of the classes, in bits per second.
const ENDS: [(f64, ServerClass); 3] =
    [(64e3, ServerClass::Narrow), (512e3, ServerClass::Thin), (4e6, ServerClass::Middling)];

impl ServerClass {
    /// All classes from the slowest up; the unmeasured last.
    pub const ALL: [Self; 5] = [Self::Narrow, Self::Thin, Self::Middling, Self::Broad, Self::Unmeasured];

    /// The class of a server; `None` is a server that never responded.
    #[must_use]
    pub fn from_server(server: Option<&MeasuredServer>) -> Self {
        let Some(rate) = server.and_then(MeasuredServer::throughput) else { return Self::Unmeasured };
        ENDS.iter().find(|(end, _)| rate < *end).map_or(Self::Broad, |(_, class)| *class)
    }

    /// The name of the class in texts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Narrow => "below 64 kbit/s",
            Self::Thin => "64–512 kbit/s",
            Self::Middling => "0.5–4 Mbit/s",
            Self::Broad => "4 Mbit/s or more",
            Self::Unmeasured => "not measured",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_ends_where_the_next_begins() {
        let class = |rate: f64| {
            let mut server = MeasuredServer::new([41, 90, 0, 1].into());
            (server.bytes, server.transfer) = (rate / 8.0, 1.0);
            ServerClass::from_server(Some(&server))
        };
        assert_eq!(class(63_999.0), ServerClass::Narrow);
        assert_eq!(class(64_000.0), ServerClass::Thin);
        assert_eq!(class(511_000.0), ServerClass::Thin);
        assert_eq!(class(3.9e6), ServerClass::Middling);
        assert_eq!(class(4e6), ServerClass::Broad);
        assert_eq!(ServerClass::from_server(None), ServerClass::Unmeasured);
    }
}
