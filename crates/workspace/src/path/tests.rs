//! Tests of the path resolver.

use super::*;

#[track_caller]
fn check(typed: &str, absolute: &str, display: &str) {
    let resolver = PathResolver::new("/nowhere/app", Some("/nowhere/me".into()));
    let resolved = resolver.resolve(typed).unwrap();
    assert_eq!((resolved.absolute.to_str().unwrap(), resolved.display.as_str()), (absolute, display), "{typed:?}");
}

#[test]
fn typed_paths() {
    check("src/a.rs", "/nowhere/app/src/a.rs", "src/a.rs");
    check("./src/./a.rs", "/nowhere/app/src/a.rs", "src/a.rs");
    check("  src/a.rs\n", "/nowhere/app/src/a.rs", "src/a.rs");
    check("\"src/a b.rs\"", "/nowhere/app/src/a b.rs", "src/a b.rs");
    check("`src/a.rs`", "/nowhere/app/src/a.rs", "src/a.rs");
    check("@src/a.rs", "/nowhere/app/src/a.rs", "src/a.rs");
    check("@~/x", "/nowhere/me/x", "/nowhere/me/x");
    check("~", "/nowhere/me", "/nowhere/me");
    check("~/x", "/nowhere/me/x", "/nowhere/me/x");
    check("~other/x", "/nowhere/app/~other/x", "~other/x");
    check("/nowhere/app/src", "/nowhere/app/src", "src");
    check("/nowhere/app", "/nowhere/app", ".");
    check(".", "/nowhere/app", ".");
    check("src/", "/nowhere/app/src", "src");
    check("..", "/nowhere", "/nowhere");
    check("src/../../app-evil/x", "/nowhere/app-evil/x", "/nowhere/app-evil/x");
    check("/nowhere/app-evil", "/nowhere/app-evil", "/nowhere/app-evil");
    check("/../../etc", "/etc", "/etc");
    check("file:///etc/a%20b%zz", "/etc/a b%zz", "/etc/a b%zz");
    check("file://localhost/etc", "/etc", "/etc");
    check("ünïcode/文.txt", "/nowhere/app/ünïcode/文.txt", "ünïcode/文.txt");
}

#[test]
fn refused_paths() {
    let resolver = PathResolver::new("/nowhere/app", None);
    assert_eq!(resolver.resolve(" \"\" "), Err(PathError::Empty));
    assert_eq!(resolver.resolve("a\0b"), Err(PathError::Nul));
    assert_eq!(resolver.resolve("~/x"), Err(PathError::NoHome("~/x".into())));
    assert!(matches!(resolver.resolve("file://host/x"), Err(PathError::RemoteFileUrl(_))));
}

#[test]
fn a_file_whose_name_starts_with_an_at_sign_wins() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("@types"), "").unwrap();
    let resolver = PathResolver::new(folder.path(), None);
    assert_eq!(resolver.resolve("@types").unwrap().display, "@types");
    assert_eq!(resolver.resolve("@other").unwrap().display, "other");
}

#[cfg(unix)]
#[test]
fn links_are_followed_truthfully() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let root = std::fs::canonicalize(folder.path()).unwrap();
    std::fs::create_dir_all(root.join("app")).unwrap();
    std::fs::create_dir_all(root.join("out/deep")).unwrap();
    symlink(root.join("out/deep"), root.join("app/link")).unwrap();
    symlink(root.join("app"), root.join("alias")).unwrap();

    let resolver = PathResolver::new(root.join("app"), None);
    assert_eq!(resolver.resolve("link/../x").unwrap().absolute, root.join("out/x"));
    let through_link = resolver.resolve("link/x").unwrap();
    assert_eq!(through_link.display, "link/x");
    assert!(!resolver.is_inside(&through_link.absolute));
    assert!(resolver.is_inside(&root.join("app/new/file")));
    assert!(!resolver.is_inside(&root.join("app-evil")));

    let aliased = PathResolver::new(root.join("alias"), None);
    assert_eq!(aliased.display(&root.join("app/x")), "x");
    assert!(aliased.is_inside(&root.join("alias/x")));
}
