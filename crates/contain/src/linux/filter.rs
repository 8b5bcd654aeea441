//! seccomp: blocks system calls that no command of a coding agent needs and that bypass the other restrictions.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use nix::libc::{self, c_long};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Op, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// These fail with `EPERM` for any arguments.
const DENIED: &[c_long] = &[
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_bpf,
    libc::SYS_userfaultfd,
    // Performs other system calls without passing the filter.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_perf_event_open,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_open_by_handle_at,
];

const LEAVE_THE_GROUP: &[c_long] = &[libc::SYS_setsid, libc::SYS_setpgid];

/// Socket families that reach beyond this process tree even if the network is on or in its own namespace.
const FAMILIES: &[i32] =
    &[libc::AF_VSOCK, libc::AF_PACKET, libc::AF_KEY, libc::AF_XDP, libc::AF_TIPC, libc::AF_BLUETOOTH];
const NETWORK_FAMILIES: &[i32] = &[libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// Injects input into a terminal as if the user had typed it.
const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541C;

const NEW_NAMESPACES: i32 = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// Further restrictions of a filter.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Strict {
    /// Set if the network is off and has no namespace of its own.
    pub(super) no_sockets: bool,
    /// Set if a process that leaves the command's group could not be found again.
    pub(super) one_group: bool,
}

/// The compiled filter.
pub(super) fn program(strict: Strict) -> Result<Arc<[libc::sock_filter]>, String> {
    type Compiled = LazyLock<Result<Arc<[libc::sock_filter]>, String>>;
    static ALL: [Compiled; 4] = [
        LazyLock::new(|| compile(Strict { no_sockets: false, one_group: false })),
        LazyLock::new(|| compile(Strict { no_sockets: true, one_group: false })),
        LazyLock::new(|| compile(Strict { no_sockets: false, one_group: true })),
        LazyLock::new(|| compile(Strict { no_sockets: true, one_group: true })),
    ];
    let at = usize::from(strict.no_sockets) + 2 * usize::from(strict.one_group);
    ALL[at].clone()
}

fn compile(strict: Strict) -> Result<Arc<[libc::sock_filter]>, String> {
    let told = |error: seccompiler::BackendError| error.to_string();
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(told)?;
    let rules = rules(strict).map_err(told)?;
    let denied = SeccompAction::Errno(libc::EPERM as u32);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, denied, arch).map_err(told)?;
    let program: BpfProgram = filter.try_into().map_err(told)?;
    let own = first_look();
    let rest = program.iter().map(|step| libc::sock_filter { code: step.code, jt: step.jt, jf: step.jf, k: step.k });
    Ok(own.into_iter().chain(rest).collect())
}

fn rules(strict: Strict) -> Result<BTreeMap<i64, Vec<SeccompRule>>, seccompiler::BackendError> {
    let leaving = if strict.one_group { LEAVE_THE_GROUP } else { &[] };
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        DENIED.iter().chain(leaving).map(|call| (*call, Vec::new())).collect();
    let rule = |arg, op, value| SeccompRule::new(vec![SeccompCondition::new(arg, Len::Dword, op, value)?]);
    let mut namespaces = Vec::new();
    for bit in (0..32).map(|bit| 1_u64 << bit).filter(|bit| NEW_NAMESPACES as u32 as u64 & bit != 0) {
        namespaces.push(rule(0, Op::MaskedEq(bit), bit)?);
    }
    rules.insert(libc::SYS_clone, namespaces.clone());
    rules.insert(libc::SYS_unshare, namespaces);
    rules.insert(libc::SYS_ioctl, vec![rule(1, Op::Eq, TIOCSTI)?, rule(1, Op::Eq, TIOCLINUX)?]);
    let more = if strict.no_sockets { NETWORK_FAMILIES } else { &[] };
    let families = FAMILIES.iter().chain(more).map(|family| rule(0, Op::Eq, *family as u64));
    rules.insert(libc::SYS_socket, families.collect::<Result<_, _>>()?);
    Ok(rules)
}

/// Checked first: system call numbers of another ABI (x32) would bypass every rule, and the flags of `clone3` are in
/// memory, where no filter sees them; programs that get ENOSYS use `clone`.
fn first_look() -> Vec<libc::sock_filter> {
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
    const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    const X32: u32 = 0x4000_0000;
    let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    vec![
        step(LOAD, 0, 0, 0),
        step(AT_LEAST, 1, 0, X32),
        step(EQUAL, 0, 1, libc::SYS_clone3 as u32),
        step(RETURN, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
    ]
}
