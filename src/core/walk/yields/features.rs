use super::url::groups::Group;
use super::url::shape::SHAPE;

/// The features of a URL that do not change while it waits: those of its kind and of the page on which it was
/// found.
const OF_PLACE: [&str; 9] = [
    "constant",
    "rate",
    "rate_below",
    "level",
    "is_level_1",
    "is_level_2",
    "finder_hosts",
    "finder_links",
    "in_finders_folder",
];
/// The features of the estimate by site, branch and folder.
pub(super) const OF_FACTOR: [&str; 2] = ["factor", "doubt"];
/// The features of a group of pages.
pub(super) const OF_GROUP: [&str; 5] = ["ratio", "pages", "hits", "recent", "dry"];
/// The groups, the whole site first.
const GROUPS: [&str; 1 + Group::ALL.len()] = ["site", "branch", "folder", "pattern", "name", "parent"];

/// The number of features that do not change while a URL waits.
pub(super) const FIXED: usize = OF_PLACE.len() + SHAPE.len();
/// The number of features that change with what is read.
pub(super) const MOVING: usize = OF_FACTOR.len() + GROUPS.len() * OF_GROUP.len();
/// The number of features of a URL.
pub const FEATURES: usize = FIXED + MOVING;

/// The names of the features, in their order.
pub fn feature_names() -> impl Iterator<Item = String> {
    let of_groups = GROUPS.iter().flat_map(|group| OF_GROUP.map(|feature| format!("{group}_{feature}")));
    let others = OF_PLACE.into_iter().chain(SHAPE).chain(OF_FACTOR);
    others.map(str::to_owned).chain(of_groups)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_feature_has_a_name_of_its_own() {
        let names: Vec<String> = feature_names().collect();
        assert_eq!(names.len(), FEATURES);
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), FEATURES);
        assert_eq!(names[FIXED], "factor");
    }
}
