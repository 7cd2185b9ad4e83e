use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use async_nats::ConnectOptions;
use serde::Deserialize;

use super::ClusterError;

/// Credentials for a NATS server, and where they come from. They never stand on a command line, where other
/// users see them.
///
/// A file holds them as TOML. Paths in it are relative to the file:
///
/// ```toml
/// user = "survey"
/// password = "…"        # or token, or nkey (the seed), or client_cert and client_key
/// ca = "bus-ca.pem"     # further root certificates of the server's
/// ```
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Login {
    user: Option<String>,
    password: Option<String>,
    token: Option<String>,
    nkey: Option<String>,
    client_cert: Option<PathBuf>,
    client_key: Option<PathBuf>,
    ca: Option<PathBuf>,
    /// The file that holds these credentials.
    #[serde(skip)]
    file: Option<PathBuf>,
}

/// Shows no secret.
impl fmt::Debug for Login {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}

impl Login {
    /// Reads the file, if there is one, or else the environment.
    ///
    /// # Errors
    /// When the file cannot be read, contains an unknown field, or has only one of two fields that belong
    /// together.
    pub fn read(file: Option<&Path>) -> Result<Self, ClusterError> {
        let Some(path) = file else { return Self::from_variables(|name| std::env::var(name).ok()) };
        let to_error = |message: String| ClusterError::Login { path: path.to_owned(), message };
        let text = fs::read_to_string(path).map_err(|error| to_error(format!("cannot be read: {error}")))?;
        let login: Self = toml::from_str(&text).map_err(|error| to_error(describe_error(&text, &error)))?;
        login.check().map_err(to_error)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let from_folder = |path: Option<PathBuf>| path.map(|path| folder.join(path));
        Ok(Self {
            client_cert: from_folder(login.client_cert),
            client_key: from_folder(login.client_key),
            ca: from_folder(login.ca),
            file: Some(path.to_owned()),
            ..login
        })
    }

    /// Files with secrets that users other than their owner can read.
    #[must_use]
    pub fn exposed(&self) -> Vec<&Path> {
        let secrets = [&self.file, &self.client_key];
        secrets.into_iter().flatten().map(PathBuf::as_path).filter(|path| is_open_to_others(path)).collect()
    }

    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, ClusterError> {
        let variable_value =
            |name: &str| variable(&format!("CCSURVEY_NATS_{name}")).filter(|value| !value.is_empty());
        let login = Self {
            user: variable_value("USER"),
            password: variable_value("PASSWORD"),
            token: variable_value("TOKEN"),
            nkey: variable_value("NKEY"),
            ..Self::default()
        };
        let to_error =
            |message| ClusterError::Login { path: "the environment (CCSURVEY_NATS_…)".into(), message };
        login.check().map_err(to_error)?;
        Ok(login)
    }

    fn check(&self) -> Result<(), String> {
        for (first, second, has_first, has_second) in [
            ("user", "password", self.user.is_some(), self.password.is_some()),
            ("client_cert", "client_key", self.client_cert.is_some(), self.client_key.is_some()),
        ] {
            let (has, lacks) = if has_first { (first, second) } else { (second, first) };
            if has_first != has_second {
                return Err(format!("it has {has} and no {lacks} (expected both)"));
            }
        }
        Ok(())
    }

    /// Whether we present a certificate. A server that does not ask for one does not say so.
    pub(super) fn has_certificate(&self) -> bool {
        self.client_cert.is_some()
    }

    /// Options for the connection.
    pub(super) fn options(&self) -> ConnectOptions {
        let mut options = ConnectOptions::new();
        if let (Some(user), Some(password)) = (&self.user, &self.password) {
            options = options.user_and_password(user.clone(), password.clone());
        }
        if let Some(token) = &self.token {
            options = options.token(token.clone());
        }
        if let Some(seed) = &self.nkey {
            options = options.nkey(seed.clone());
        }
        if let (Some(cert), Some(key)) = (&self.client_cert, &self.client_key) {
            options = options.add_client_certificate(cert.clone(), key.clone());
        }
        if let Some(ca) = &self.ca {
            options = options.add_root_certificates(ca.clone());
        }
        options
    }
}

/// Whether the group of a file or all users have permission to read it.
#[cfg(unix)]
fn is_open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o044 != 0)
}

#[cfg(not(unix))]
fn is_open_to_others(_: &Path) -> bool {
    false
}

/// Describes the error in a file without quoting its lines: they may be secret.
fn describe_error(text: &str, error: &toml::de::Error) -> String {
    let line =
        error.span().and_then(|span| text.get(..span.start)).map(|before| before.matches('\n').count() + 1);
    let position = line.map_or_else(String::new, |line| format!("line {line}: "));
    // For a value of the wrong type, the library quotes the value.
    let message = error.message().split("invalid type").next().unwrap_or_default().trim();
    if message.is_empty() {
        format!("{position}expected text in quotes")
    } else {
        format!("{position}{message}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_who_we_are_and_names_files_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("login.toml");
        fs::write(&path, "user = \"survey\"\npassword = \"hush\"\nca = \"ca.pem\"\n").unwrap();
        let login = Login::read(Some(&path)).unwrap();
        assert_eq!((login.user.as_deref(), login.password.as_deref()), (Some("survey"), Some("hush")));
        assert_eq!(login.ca, Some(folder.path().join("ca.pem")));
        assert!(!format!("{login:?}").contains("hush"), "what is secret is not told");
    }

    #[test]
    fn what_is_wrong_with_a_file_is_told_without_what_is_secret_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("login.toml");
        for (text, expected) in [
            ("user = \"survey\"\n", "it has user and no password (expected both)"),
            ("client_key = \"k.pem\"\n", "it has client_key and no client_cert (expected both)"),
            ("token = \"hush\"\npasword = \"hush\"\n", "line 2: unknown field `pasword`"),
            ("token = hush\n", "line 1: "),
            ("user = \"me\"\npassword = 12345\n", "line 2: expected text in quotes"),
        ] {
            fs::write(&path, text).unwrap();
            let shown = Login::read(Some(&path)).unwrap_err().to_string();
            assert!(shown.contains("login.toml: ") && shown.contains(expected), "{shown}");
            assert!(!shown.contains("hush") && !shown.contains("12345"), "{shown}");
        }
        let missing = Login::read(Some(&folder.path().join("gone.toml"))).unwrap_err();
        assert!(missing.to_string().contains("gone.toml: cannot be read") && missing.is_usage());
    }

    #[cfg(unix)]
    #[test]
    fn files_that_others_can_read_are_named() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("login.toml");
        fs::write(&path, "client_cert = \"c.pem\"\nclient_key = \"k.pem\"\n").unwrap();
        let key = folder.path().join("k.pem");
        fs::write(&key, "secret").unwrap();
        let permit = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        for (mode, is_exposed) in
            [(0o600, false), (0o400, false), (0o640, true), (0o604, true), (0o644, true)]
        {
            permit(&path, mode);
            permit(&key, 0o600);
            let exposed: Vec<&Path> = is_exposed.then_some(path.as_path()).into_iter().collect();
            assert_eq!(Login::read(Some(&path)).unwrap().exposed(), exposed, "{mode:o}");
        }
        permit(&path, 0o600);
        permit(&key, 0o644);
        assert_eq!(Login::read(Some(&path)).unwrap().exposed(), [key.as_path()]);
        assert!(Login::default().exposed().is_empty(), "the environment is nobody's file");
    }

    #[test]
    fn without_a_file_the_environment_says_who_we_are() {
        let token_only = |name: &str| (name == "CCSURVEY_NATS_TOKEN").then(|| "hush".to_owned());
        assert_eq!(Login::from_variables(token_only).unwrap().token.as_deref(), Some("hush"));
        assert!(Login::from_variables(|_| Some(String::new())).unwrap().user.is_none());
        let half = |name: &str| (name == "CCSURVEY_NATS_USER").then(|| "me".to_owned());
        let error = Login::from_variables(half).unwrap_err().to_string();
        assert!(error.contains("it has user and no password"), "{error}");
    }
}
