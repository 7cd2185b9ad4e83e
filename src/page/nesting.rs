use super::tag::{Attribute, Tag};
use super::tag_name::TagName;

/// As much of the tree around a tag as its meaning needs: whether it stands in foreign content
/// (`svg`, `math`), and whether in a template, which is not shown.
#[derive(Default)]
pub(super) struct Nesting {
    foreign: u32,
    templates: u32,
}

impl Nesting {
    pub(super) fn is_foreign(&self) -> bool {
        self.foreign > 0
    }

    pub(super) fn is_inert(&self) -> bool {
        self.templates > 0
    }

    /// Enters an element; `has_content` is false for a self-closed tag where that means something.
    pub(super) fn open(&mut self, tag: &Tag, has_content: bool) {
        match tag.name {
            TagName::Svg | TagName::Math if !tag.is_self_closing => {
                self.foreign = self.foreign.saturating_add(1);
            }
            // A declarative shadow root is shown; its end tag then finds no template open.
            TagName::Template
                if has_content && (self.is_inert() || tag.value(Attribute::ShadowRootMode).is_none()) =>
            {
                self.templates = self.templates.saturating_add(1);
            }
            _ => {}
        }
    }

    pub(super) fn close(&mut self, name: TagName) {
        match name {
            TagName::Svg | TagName::Math => self.foreign = self.foreign.saturating_sub(1),
            TagName::Template => self.templates = self.templates.saturating_sub(1),
            _ => {}
        }
    }
}
