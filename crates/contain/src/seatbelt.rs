//! macOS: the Seatbelt profile for a map. If two rules match, the later one applies.

use std::path::{Path, PathBuf};

use omp_types::{AccessMap, ContainMode, NetworkMode};

use crate::writable_roots;

/// Devices that every program may write to.
const DEVICES: &[&str] =
    &["/dev/null", "/dev/zero", "/dev/tty", "/dev/ptmx", "/dev/fd", "/dev/stdout", "/dev/stderr", "/dev/dtracehelper"];

/// Would start something uncontained, or act through an uncontained program.
const LEADS_AROUND: &str = r#"(deny appleevent-send)
(deny job-creation)
(deny mach-priv-task-port)
(deny mach-lookup
  (global-name "com.apple.coreservices.launchservicesd")
  (global-name "com.apple.coreservices.appleevents")
  (global-name "com.apple.pasteboard.1"))
"#;

/// Services that access the network for any client.
const NO_NETWORK: &str = r#"(deny network*)
(deny mach-lookup
  (global-name "com.apple.dnssd.service")
  (global-name "com.apple.nsurlsessiond")
  (global-name "com.apple.nsurlstorage-cache"))
"#;

/// The profile text; `proxy` is the port of the proxy if only named hosts are reachable. Fails for paths that it cannot
/// express.
pub(crate) fn profile(map: &AccessMap, proxy: Option<u16>) -> Result<String, String> {
    let mut text = format!("(version 1)\n(allow default)\n{LEADS_AROUND}(deny file-write*)\n");
    let roots = writable_roots(map);
    rule(&mut text, "allow file-write*", "subpath", DEVICES.iter().map(Path::new))?;
    text.push_str("(allow file-write* (regex #\"^/dev/ttys[0-9]+$\"))\n");
    rule(&mut text, "allow file-write*", "subpath", roots.iter().map(PathBuf::as_path))?;
    let within = |path: &Path| roots.iter().any(|root| path.starts_with(root));
    if map.mode == ContainMode::WorkspaceWrite {
        let guarded: Vec<&Path> = map.guarded.iter().map(PathBuf::as_path).filter(|path| within(path)).collect();
        rule(&mut text, "deny file-write*", "subpath", guarded.iter().copied())?;
        let freed = |root: &&Path| guarded.iter().any(|guard| root.starts_with(guard) && root != guard);
        rule(&mut text, "allow file-write*", "subpath", roots.iter().map(PathBuf::as_path).filter(freed))?;
    }
    rule(
        &mut text,
        "deny file-read* file-write* network-outbound",
        "subpath",
        map.hidden.iter().map(PathBuf::as_path),
    )?;
    // The last matching rule applies.
    let shown = map.shown.iter().map(PathBuf::as_path);
    rule(&mut text, "allow file-read* network-outbound", "subpath", shown)?;
    let shown_to_write = map.shown.iter().map(PathBuf::as_path).filter(|path| within(path));
    rule(&mut text, "allow file-write*", "subpath", shown_to_write)?;
    rule(&mut text, "deny file-write-unlink", "literal", leading(map, &roots).iter().map(PathBuf::as_path))?;
    // Unix sockets count as network as well.
    let sockets = map.sockets.iter().map(PathBuf::as_path);
    match (map.network, proxy) {
        (NetworkMode::On, _) => {}
        (NetworkMode::Off, _) => {
            text.push_str(NO_NETWORK);
            rule(&mut text, "allow network-outbound", "subpath", sockets)?;
        }
        (NetworkMode::Allowlist, proxy) => {
            text.push_str(NO_NETWORK);
            rule(&mut text, "allow network-outbound", "subpath", sockets)?;
            let port = proxy.ok_or("no proxy")?;
            text.push_str(&format!("(allow network-outbound (remote ip \"localhost:{port}\"))\n"));
        }
    }
    Ok(text)
}

/// Folders on the way to something guarded or hidden: after a rename another folder could take their place.
fn leading(map: &AccessMap, roots: &[PathBuf]) -> Vec<PathBuf> {
    let kept = map.guarded.iter().chain(&map.hidden);
    let within = |path: &&Path| roots.iter().any(|root| path.starts_with(root));
    let mut leading: Vec<PathBuf> =
        kept.flat_map(|path| path.ancestors().skip(1).take_while(within).map(Path::to_owned)).collect();
    leading.sort();
    leading.dedup();
    leading
}

fn rule<'a>(text: &mut String, what: &str, filter: &str, paths: impl Iterator<Item = &'a Path>) -> Result<(), String> {
    let filters: Vec<String> =
        paths.map(|path| quoted(path).map(|path| format!("\n  ({filter} {path})"))).collect::<Result<_, _>>()?;
    // Without a filter a rule would match everything.
    if !filters.is_empty() {
        text.push_str(&format!("({what}{})\n", filters.concat()));
    }
    Ok(())
}

fn quoted(path: &Path) -> Result<String, String> {
    let no_text = || format!("{} cannot be written in a sandbox profile", path.display());
    let text = path.to_str().filter(|text| !text.chars().any(char::is_control)).ok_or_else(no_text)?;
    Ok(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(mode: ContainMode, network: NetworkMode) -> AccessMap {
        AccessMap {
            mode,
            network,
            workspace: "/H/u/app".into(),
            writable: vec!["/private/tmp/omp".into(), "/H/u/app/.omp/local".into()],
            hidden: vec!["/H/u/.ssh".into(), "/H/u/app/.env.keys".into()],
            guarded: vec!["/H/u/app/.git/hooks".into(), "/H/u/app/.omp".into(), "/H/u/.zshrc".into()],
            ..AccessMap::default()
        }
    }

    #[test]
    fn a_workspace_is_written_but_for_what_is_guarded() {
        let text = profile(&map(ContainMode::WorkspaceWrite, NetworkMode::On), None).unwrap();
        insta::assert_snapshot!(text, @r#"
        (version 1)
        (allow default)
        (deny appleevent-send)
        (deny job-creation)
        (deny mach-priv-task-port)
        (deny mach-lookup
          (global-name "com.apple.coreservices.launchservicesd")
          (global-name "com.apple.coreservices.appleevents")
          (global-name "com.apple.pasteboard.1"))
        (deny file-write*)
        (allow file-write*
          (subpath "/dev/null")
          (subpath "/dev/zero")
          (subpath "/dev/tty")
          (subpath "/dev/ptmx")
          (subpath "/dev/fd")
          (subpath "/dev/stdout")
          (subpath "/dev/stderr")
          (subpath "/dev/dtracehelper"))
        (allow file-write* (regex #"^/dev/ttys[0-9]+$"))
        (allow file-write*
          (subpath "/H/u/app")
          (subpath "/H/u/app/.omp/local")
          (subpath "/private/tmp/omp"))
        (deny file-write*
          (subpath "/H/u/app/.git/hooks")
          (subpath "/H/u/app/.omp"))
        (allow file-write*
          (subpath "/H/u/app/.omp/local"))
        (deny file-read* file-write* network-outbound
          (subpath "/H/u/.ssh")
          (subpath "/H/u/app/.env.keys"))
        (deny file-write-unlink
          (literal "/H/u/app")
          (literal "/H/u/app/.git"))
        "#);
    }

    #[test]
    fn what_the_user_shows_of_something_hidden_is_read_and_not_written() {
        let mut map = map(ContainMode::WorkspaceWrite, NetworkMode::On);
        map.shown = vec!["/H/u/.ssh/known_hosts".into()];
        let text = profile(&map, None).unwrap();
        let hidden = text.find("(subpath \"/H/u/.ssh\")").unwrap();
        let shown = text.find("(allow file-read* network-outbound\n  (subpath \"/H/u/.ssh/known_hosts\"))").unwrap();
        assert!(hidden < shown, "{text}");
        assert_eq!(text.matches("known_hosts").count(), 1, "{text}");
    }

    #[test]
    fn a_session_that_reads_without_a_network_writes_to_its_temp_folder_alone() {
        let text = profile(&map(ContainMode::ReadOnly, NetworkMode::Off), None).unwrap();
        insta::assert_snapshot!(text, @r#"
        (version 1)
        (allow default)
        (deny appleevent-send)
        (deny job-creation)
        (deny mach-priv-task-port)
        (deny mach-lookup
          (global-name "com.apple.coreservices.launchservicesd")
          (global-name "com.apple.coreservices.appleevents")
          (global-name "com.apple.pasteboard.1"))
        (deny file-write*)
        (allow file-write*
          (subpath "/dev/null")
          (subpath "/dev/zero")
          (subpath "/dev/tty")
          (subpath "/dev/ptmx")
          (subpath "/dev/fd")
          (subpath "/dev/stdout")
          (subpath "/dev/stderr")
          (subpath "/dev/dtracehelper"))
        (allow file-write* (regex #"^/dev/ttys[0-9]+$"))
        (allow file-write*
          (subpath "/H/u/app/.omp/local")
          (subpath "/private/tmp/omp"))
        (deny file-read* file-write* network-outbound
          (subpath "/H/u/.ssh")
          (subpath "/H/u/app/.env.keys"))
        (deny network*)
        (deny mach-lookup
          (global-name "com.apple.dnssd.service")
          (global-name "com.apple.nsurlsessiond")
          (global-name "com.apple.nsurlstorage-cache"))
        "#);
    }

    #[test]
    fn an_open_socket_is_reached_without_a_network() {
        let mut map = map(ContainMode::WorkspaceWrite, NetworkMode::Off);
        map.sockets = vec!["/private/tmp/omp-1/s".into()];
        let text = profile(&map, None).unwrap();
        let (denied, allowed) = text.split_once("(deny network*)").unwrap();
        assert!(!denied.contains("omp-1"), "{text}");
        assert!(allowed.contains("(allow network-outbound\n  (subpath \"/private/tmp/omp-1/s\"))"), "{text}");
    }

    #[test]
    fn named_hosts_are_reached_through_one_port() {
        let text = profile(&map(ContainMode::WorkspaceWrite, NetworkMode::Allowlist), Some(4711)).unwrap();
        let network = &text[text.find("(deny network*)").unwrap()..];
        assert!(network.ends_with("(allow network-outbound (remote ip \"localhost:4711\"))\n"), "{network}");
        assert_eq!(text.matches("(allow network").count(), 1);
        let refused = profile(&map(ContainMode::WorkspaceWrite, NetworkMode::Allowlist), None);
        assert_eq!(refused, Err("no proxy".to_owned()));
    }

    #[test]
    fn no_path_ends_its_text_early() {
        for (path, expect) in [
            ("/a b", Ok("\"/a b\"")),
            ("/a\"b", Ok("\"/a\\\"b\"")),
            ("/a\\b", Ok("\"/a\\\\b\"")),
            ("/a\nb", Err("/a\nb cannot be written in a sandbox profile")),
        ] {
            let quoted = quoted(Path::new(path));
            assert_eq!(quoted.as_deref().map_err(String::as_str), expect);
        }
        let workspace = PathBuf::from("/x\")) (allow default) ((\"");
        let text = profile(&AccessMap { workspace, ..AccessMap::default() }, None).unwrap();
        assert!(text.contains(r#"(subpath "/x\")) (allow default) ((\"")"#), "{text}");
    }
}
