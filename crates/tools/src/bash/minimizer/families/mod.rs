//! Lists all known families.

mod cargo;
mod compilers;
mod git;
mod go;
mod javascript;
mod jvm;
mod native;
mod python;
mod ruby;
mod system;
mod typescript;

use super::{Family, Noise, starts};

pub(super) const ALL: &[&Family] = &[
    &cargo::FAMILY,
    &compilers::FAMILY,
    &git::FAMILY,
    &go::FAMILY,
    &javascript::TESTS,
    &javascript::PACKAGES,
    &jvm::FAMILY,
    &native::FAMILY,
    &python::TESTS,
    &python::PACKAGES,
    &ruby::TESTS,
    &ruby::PACKAGES,
    &system::FAMILY,
    &typescript::FAMILY,
];
