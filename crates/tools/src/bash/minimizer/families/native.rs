//! C and C++: progress lines of make, ninja, cmake and ctest. Warnings and errors stay.

use super::{Family, Noise, starts};

pub(super) const FAMILY: Family = Family {
    commands: &["cmake", "ctest", "make", "meson", "ninja"],
    noise: &[
        Noise { starts: "make[", holds: "ing directory", ends: "" },
        Noise { starts: "[", holds: "%] Building ", ends: "" },
        Noise { starts: "[", holds: "%] Built target ", ends: "" },
        Noise { starts: "[", holds: "%] Linking ", ends: "" },
        Noise { starts: "[", holds: "/", ends: ".o" },
        starts("Scanning dependencies of target "),
        starts("Consolidate compiler generated dependencies"),
        starts("-- Looking for "),
        starts("-- Performing Test "),
        starts("-- Detecting "),
        starts("-- Check for "),
        Noise { starts: "gcc ", holds: " -c ", ends: "" },
        Noise { starts: "g++ ", holds: " -c ", ends: "" },
        Noise { starts: "cc ", holds: " -c ", ends: "" },
        Noise { starts: "c++ ", holds: " -c ", ends: "" },
        Noise { starts: "clang ", holds: " -c ", ends: "" },
        Noise { starts: "clang++ ", holds: " -c ", ends: "" },
        Noise { starts: "Start ", holds: ": ", ends: "" },
        Noise { starts: "", holds: " Passed ", ends: " sec" },
    ],
    passed: None,
};
