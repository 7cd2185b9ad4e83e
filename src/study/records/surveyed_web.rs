use serde::Serialize;
use serde_json::Value;

/// The Web that a survey covers, according to its manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "name")]
pub enum SurveyedWeb {
    /// The real Internet: the manifest names no other Web.
    #[default]
    Internet,
    /// A virtual Web, crawled in process. Holds the name of the world, as the user gave it.
    Virtual(String),
    /// A recorded survey, replayed in process. Holds the name of its folder, as the user gave it.
    Recorded(String),
    /// The Web behind this gateway address, to which every connection went.
    Gateway(String),
}

impl SurveyedWeb {
    /// Derived from the settings of a survey and the description of its simulation, if any.
    pub(super) fn named(settings: &Value, simulation: Option<&Value>) -> Self {
        let text = |value: &Value| value.as_str().map(ToOwned::to_owned);
        if let Some(simulation_settings) = simulation {
            let recorded = text(&simulation_settings["recorded"]).map(Self::Recorded);
            return recorded
                .unwrap_or_else(|| Self::Virtual(text(&simulation_settings["world"]).unwrap_or_default()));
        }
        text(&settings["gateway"]).map_or(Self::Internet, Self::Gateway)
    }

    /// A warning that readers must see first, as a short heading and a text. None for a survey of the
    /// Internet.
    #[must_use]
    pub fn warning(&self) -> Option<[String; 2]> {
        let is_virtual = "A virtual Web, not the Internet.";
        let (title, text) = match self {
            Self::Internet => return None,
            Self::Virtual(_) => (
                is_virtual,
                "Names, networks, pages and numbers are invented and say nothing about real servers."
                    .to_owned(),
            ),
            Self::Recorded(_) => (
                "A simulation: no server was contacted.",
                "Pages are those of a recorded survey; pauses, load and times are computed.".to_owned(),
            ),
            Self::Gateway(address) => (
                is_virtual,
                format!(
                    "Every connection went to {address}, regardless of the server's address. Names, networks, pages and numbers are \
                     those of the Web behind it and say nothing about real servers."
                ),
            ),
        };
        Some([title.to_owned(), text])
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::records::{Manifest, Timestamp};

    fn web(settings: Value, simulation: Option<Value>) -> SurveyedWeb {
        Manifest { simulation, ..Manifest::new(settings, Timestamp(0)) }.web()
    }

    #[test]
    fn a_web_that_is_not_the_internet_is_told_by_its_gateway_or_its_simulation() {
        let gateway = json!({ "cctld": ["ke"], "gateway": "127.0.0.1:8080" });
        let internet = web(json!({ "cctld": ["ke"], "gateway": null }), None);
        assert_eq!((internet.warning(), internet), (None, SurveyedWeb::Internet));
        let behind = web(gateway.clone(), None);
        let [title, text] = behind.warning().unwrap();
        assert_eq!(title, "A virtual Web, not the Internet.");
        assert!(text.starts_with("Every connection went to 127.0.0.1:8080, "), "{text}");
        let simulated = web(gateway, Some(json!({ "world": "demo", "seed": 1 })));
        assert_eq!(simulated, SurveyedWeb::Virtual("demo".into()));
        assert!(simulated.warning().unwrap()[1].contains("are invented"));
        let recorded = web(Value::Null, Some(json!({ "recorded": "kenya", "depth": 8 })));
        assert_eq!(recorded, SurveyedWeb::Recorded("kenya".into()));
        assert_eq!(recorded.warning().unwrap()[0], "A simulation: no server was contacted.");
        assert_eq!(serde_json::to_value(recorded).unwrap(), json!({ "kind": "recorded", "name": "kenya" }));
    }
}
