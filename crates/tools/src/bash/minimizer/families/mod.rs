//! All families that are known.

mod cargo;
mod git;
mod go;
mod javascript;
mod jvm;
mod native;
mod python;
mod system;

use super::{Family, Noise, starts};

pub(super) const ALL: &[&Family] = &[
    &cargo::FAMILY,
    &git::FAMILY,
    &go::FAMILY,
    &javascript::TESTS,
    &javascript::PACKAGES,
    &jvm::FAMILY,
    &native::FAMILY,
    &python::TESTS,
    &python::PACKAGES,
    &system::FAMILY,
];
