//! Rules can be broken on purpose only in builds that request it.

#[test]
fn no_build_has_the_hazards_but_one_that_names_them() {
    let package: toml::Table = include_str!("../../Cargo.toml").parse().unwrap();
    let features = package["features"].as_table().unwrap();
    let enables_hazards = |others: &toml::Value| {
        let mut others = others.as_array().unwrap().iter();
        others.any(|other| other.as_str() == Some("hazards"))
    };
    let enabling: Vec<&String> =
        features.iter().filter(|(_, others)| enables_hazards(others)).map(|(name, _)| name).collect();
    assert!(features.contains_key("hazards"));
    assert_eq!(enabling, Vec::<&String>::new());
}
