//! The listening socket of a command's own network: the child creates it there and sends it to omp, which serves it.
//!
//! So nothing forwards between the two networks: there is no process that could be left over, and commands only see an open
//! port.

use std::ffi::c_int;
use std::io::{self, IoSliceMut};
use std::net::TcpListener;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream as Pair;

use nix::libc;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};
use tokio::io::Interest;
use tokio::net::UnixStream;

use super::enter::{EnterStep, done};

/// In a network namespace every port is free. This one is outside the range for automatic ports.
pub(super) const PORT: u16 = 61_128;

/// omp's end, and the child's.
pub(super) fn pair() -> io::Result<(UnixStream, OwnedFd)> {
    let (ours, theirs) = Pair::pair()?;
    ours.set_nonblocking(true)?;
    Ok((UnixStream::from_std(ours)?, theirs.into()))
}

/// Waits for the socket. Fails if there was no child, or it failed before.
pub(super) async fn receive(end: UnixStream) -> io::Result<tokio::net::TcpListener> {
    let listener = end.async_io(Interest::READABLE, || take(&end)).await?;
    tokio::net::TcpListener::from_std(TcpListener::from(listener))
}

/// Receives a descriptor.
pub(super) fn take(end: &impl AsRawFd) -> io::Result<OwnedFd> {
    let mut byte = [0];
    let mut space = nix::cmsg_space!([RawFd; 1]);
    let mut pieces = [IoSliceMut::new(&mut byte)];
    let message = recvmsg::<()>(end.as_raw_fd(), &mut pieces, Some(&mut space), MsgFlags::MSG_CMSG_CLOEXEC)?;
    let handed = message.cmsgs()?.find_map(|part| match part {
        ControlMessageOwned::ScmRights(descriptors) => descriptors.first().copied(),
        _ => None,
    });
    let handed = handed.ok_or(io::ErrorKind::UnexpectedEof)?;
    // SAFETY: the descriptor was just created for this process and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(handed) })
}

/// The child's side, between fork and exec, in the network of the command.
pub(super) fn hand_out(to: &OwnedFd) -> io::Result<()> {
    const WAITING: c_int = 128;
    // SAFETY: an address with its size; the descriptors are open.
    unsafe {
        let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        let listener = libc::socket(libc::AF_INET, kind, 0);
        done(EnterStep::Door, listener.into())?;
        let mut address: libc::sockaddr_in = std::mem::zeroed();
        address.sin_family = libc::AF_INET as libc::sa_family_t;
        address.sin_port = PORT.to_be();
        address.sin_addr.s_addr = u32::from_ne_bytes([127, 0, 0, 1]);
        let size = size_of::<libc::sockaddr_in>() as libc::socklen_t;
        done(EnterStep::Door, libc::bind(listener, (&raw const address).cast(), size).into())?;
        done(EnterStep::Door, libc::listen(listener, WAITING).into())?;
        done(EnterStep::Door, send(to.as_raw_fd(), listener) as libc::c_long)?;
        libc::close(listener);
    }
    Ok(())
}

/// # Safety
/// Both descriptors must be open.
pub(super) unsafe fn send(to: c_int, listener: c_int) -> isize {
    /// More than the header and one descriptor need, with the alignment of the header.
    #[repr(C, align(8))]
    struct DescriptorSpace([u8; 64]);
    let size = size_of::<c_int>() as u32;
    let (mut byte, mut space) = ([0_u8], DescriptorSpace([0; 64]));
    // SAFETY: everything that the message points to lives until it was sent; the header is within the buffer.
    unsafe {
        let mut piece = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: byte.len() };
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut piece;
        message.msg_iovlen = 1;
        message.msg_control = space.0.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(size) as _;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(size) as _;
        libc::CMSG_DATA(header).cast::<c_int>().write_unaligned(listener);
        libc::sendmsg(to, &raw const message, libc::MSG_NOSIGNAL)
    }
}
