use std::path::PathBuf;

use clap::Args;

use crate::cli::error::CliError;
use crate::rehearsal::RecordedWorld;
use crate::space::{Profile, World};

/// The world of `ccsurvey demo`.
const DEMO: &str = include_str!("../../../../data/demo.toml");
/// All hostile cases, beside a few well-behaved sites.
const HOSTILE: &str = include_str!("../../../../data/worlds/hostile.toml");
/// The names of the built-in worlds.
const BUILT_IN: [(&str, &str); 2] = [("demo", DEMO), ("hostile", HOSTILE)];

/// The world that a command works on.
#[derive(Args, Debug)]
pub struct WorldArgument {
    /// The file of the world (TOML); the name of a built-in one: `demo`, `hostile`, `africa-2006`,
    /// `cctld-2026` or `japan-encodings`; or the folder of a survey with --record-links. A file or folder
    /// with one of these names is written `./demo` and so on
    #[arg(value_name = "WORLD")]
    pub world: PathBuf,
}

impl WorldArgument {
    /// The recorded survey, if the argument is a folder.
    ///
    /// # Errors
    /// When the folder is not a survey, or the survey cannot be replayed.
    pub fn recorded(&self) -> Result<Option<RecordedWorld>, CliError> {
        Ok(self.is_folder().then(|| RecordedWorld::read(&self.world)).transpose()?)
    }

    /// A folder named `demo` must be written `./demo`, like a file of that name.
    pub(super) fn is_folder(&self) -> bool {
        BUILT_IN.iter().all(|(name, _)| self.world.as_os_str() != *name) && self.world.is_dir()
    }

    /// # Errors
    /// When the file cannot be read, or is not a world; names file and line.
    pub fn read(&self) -> Result<World, CliError> {
        let name = self.world.display();
        if let Some((_, toml)) = BUILT_IN.iter().find(|(name, _)| self.world.as_os_str() == *name) {
            return built_in(toml);
        }
        if let Some(profile) = self.world.to_str().and_then(Profile::named) {
            return built_in(profile.toml);
        }
        let text = std::fs::read_to_string(&self.world)
            .map_err(|error| CliError::Usage(format!("cannot read the world {name}: {error}")))?;
        World::parse(&text).map_err(|error| CliError::Usage(format!("{name}: {error}")))
    }
}

/// The built-in world `demo`.
///
/// # Errors
/// Never in a release: the file is part of the program, and a test reads it.
pub fn demo() -> Result<World, CliError> {
    built_in(DEMO)
}

fn built_in(text: &str) -> Result<World, CliError> {
    World::parse(text).map_err(|error| CliError::Failed(format!("the built-in world: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::PROFILES;

    #[test]
    fn the_worlds_built_in_are_worlds() {
        for (name, _) in BUILT_IN {
            let world = WorldArgument { world: name.into() }.read().unwrap();
            assert!(!world.start_urls().is_empty(), "{name}");
        }
    }

    #[test]
    fn a_profile_is_a_world_of_that_name() {
        for profile in PROFILES {
            let world = WorldArgument { world: profile.name.into() }.read().unwrap();
            assert!(!world.start_urls().is_empty(), "{}", profile.name);
        }
    }

    #[test]
    fn a_world_that_is_not_is_named_with_its_line() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("w.toml");
        std::fs::write(&file, "seed = 1\nsead = 2\n").unwrap();
        let error = WorldArgument { world: file.clone() }.read().unwrap_err().to_string();
        assert!(error.starts_with(&format!("{}: line 2: unknown key 'sead'", file.display())), "{error}");
        let error = WorldArgument { world: dir.path().join("none.toml") }.read().unwrap_err();
        assert!(error.to_string().ends_with("none.toml: No such file or directory (os error 2)"), "{error}");
    }
}
