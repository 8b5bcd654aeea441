//! macOS: Seatbelt, applied by the system's `sandbox-exec`, which then executes the command.

use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use omp_egress::Egress;
use omp_types::{AccessMap, NetworkMode};
use tokio::runtime::Handle;
use tokio_util::task::AbortOnDropHandle;

use crate::rung::{Missing, ProbedSupport, Rung};
use crate::seatbelt;

/// Part of the system, which only Apple can write to.
const SANDBOX_EXEC: &str = "/usr/bin/sandbox-exec";

/// The containment of one child.
#[derive(Debug)]
pub struct Cage {
    profile: String,
    variables: Vec<(&'static str, String)>,
}

impl Cage {
    pub(crate) fn new(
        map: &AccessMap,
        _rung: Rung,
        _shared: Arc<AccessMap>,
        _open: &[PathBuf],
    ) -> Result<Self, String> {
        let nobody = Some(0);
        Ok(Self { profile: seatbelt::profile(map, nobody)?, variables: Vec::new() })
    }

    /// Connects the command to `egress`, for as long as the returned handle lives.
    pub(crate) fn let_out(&mut self, egress: &Arc<Egress>, map: &AccessMap) -> Result<AbortOnDropHandle<()>, String> {
        let told = |error: io::Error| error.to_string();
        let runtime = Handle::try_current().map_err(|error| error.to_string())?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(told)?;
        listener.set_nonblocking(true).map_err(told)?;
        let port = listener.local_addr().map_err(told)?.port();
        self.profile = seatbelt::profile(map, Some(port))?;
        self.variables = omp_egress::variables(map, port);
        let guard = runtime.enter();
        let listener = tokio::net::TcpListener::from_std(listener).map_err(told)?;
        drop(guard);
        Ok(AbortOnDropHandle::new(runtime.spawn(egress.clone().serve(listener))))
    }

    /// Variables to set in the child's environment.
    pub fn variables(&self) -> &[(&'static str, String)] {
        &self.variables
    }

    /// The program to start in front of the command and its arguments.
    pub fn wrapper(&self) -> Vec<OsString> {
        [SANDBOX_EXEC, "-p", &self.profile].map(OsString::from).into()
    }

    /// Does nothing: `sandbox-exec` applies the profile.
    pub fn enter(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub fn explain(_error: &io::Error) -> Option<String> {
    None
}

pub(crate) fn probe() -> ProbedSupport {
    let Err(why) = attempt() else { return ProbedSupport { seatbelt: true, ..ProbedSupport::default() } };
    let missing = Missing {
        what: "Seatbelt",
        costs: "commands are not restricted",
        why,
        fix: "run omp outside of other sandboxes, or in a virtual machine".to_owned(),
    };
    ProbedSupport { missing: vec![missing], ..ProbedSupport::default() }
}

/// Runs a program that does nothing, with every kind of rule. A sandbox cannot be entered within another one, and a rule
/// that a release of macOS does not know is an error.
#[expect(clippy::disallowed_methods, reason = "omp-exec asks this before it can start anything")]
fn attempt() -> Result<(), String> {
    let map = AccessMap {
        network: NetworkMode::Allowlist,
        workspace: "/private/tmp/omp".into(),
        guarded: vec!["/private/tmp/omp/a/b".into()],
        hidden: vec!["/private/tmp/omp/c".into()],
        ..AccessMap::default()
    };
    let profile = seatbelt::profile(&map, Some(1))?;
    let mut command = Command::new(SANDBOX_EXEC);
    command.args(["-p", &profile, "/usr/bin/true"]).env_clear().stdin(Stdio::null());
    let output = command.output().map_err(|error| format!("{SANDBOX_EXEC} cannot be run: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let first = said.lines().next().unwrap_or("it failed");
    if output.status.success() { Ok(()) } else { Err(format!("{SANDBOX_EXEC}: {first}")) }
}

#[cfg(test)]
mod tests {
    use omp_types::Access;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn the_profile_lets_out_to_the_proxy_that_listens() {
        let map = AccessMap { network: NetworkMode::Allowlist, workspace: "/w".into(), ..AccessMap::default() };
        let mut cage = Cage::new(&map, Rung::Seatbelt, Arc::default(), &[]).unwrap();
        let egress = Arc::new(Egress::new(Access::new(map.clone())));
        let _way_out = cage.let_out(&egress, &map).unwrap();
        let (_, address) = cage.variables().iter().find(|(name, _)| *name == "https_proxy").unwrap();
        let port: u16 = address.rsplit(':').next().unwrap().parse().unwrap();
        let [program, option, profile] = cage.wrapper().try_into().unwrap();
        assert_eq!((program.to_str(), option.to_str()), (Some(SANDBOX_EXEC), Some("-p")));
        assert!(profile.to_str().unwrap().ends_with(&format!("(remote ip \"localhost:{port}\"))\n")));
        let mut stream = tokio::net::TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap();
        stream.write_all(b"CONNECT evil.example:443 HTTP/1.1\r\n\r\n").await.unwrap();
        stream.shutdown().await.unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).await.unwrap();
        assert!(said.starts_with("HTTP/1.1 403 "), "{said}");
    }
}
