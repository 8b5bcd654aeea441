//! Every attack of `docs/security.md` that can be staged here: a model that does what the attacker wants, the binary, and a
//! check of the effects. The cases are files below `cases`; a group of them shares one run.
//!
//! Each group runs three times: in print mode, where nobody can be asked; with a client that denies every question; and once
//! without a sandbox, with trust and every question approved. There the effects must occur, because a trap that cannot be
//! triggered proves nothing.
//!
//! It runs once more for an ordinary user with an ssh-agent and a session bus, who denies every question.

mod catcher;
mod group;
mod world;

use group::Group;
use world::World;

/// In print mode nobody can be asked, and no attack has an effect.
async fn alone(name: &str) {
    let group = Group::load(name);
    let mut world = World::stage(&group, group.config()).await;
    if is_told_only(&group, &world).await {
        return;
    }
    world.print(&group).await;
    world.unharmed(&group).await;
}

/// Without namespaces not everything is protected; checks that the user is warned.
async fn is_told_only(group: &Group, world: &World) -> bool {
    let Some(told) = group.without_namespaces.as_ref().filter(|_| !omp_contain::standing().namespaces) else {
        return false;
    };
    let said = world.doctor().await;
    assert!(said.contains(told), "{said}");
    true
}

/// With a client that denies every question, no attack has an effect, and the questions show what would happen.
async fn asked(name: &str) {
    let group = Group::load(name);
    let mut world = World::stage(&group, group.config()).await;
    if is_told_only(&group, &world).await {
        return;
    }
    let questions = world.talk(&group, &[], "Deny").await;
    world.unharmed(&group).await;
    group.truthful(&world, &questions);
}

/// Runs a group as an ordinary user who denies every question.
async fn ordinary_user(name: &str) {
    let group = Group::load(name);
    let mut world = World::stage_for_user(&group, group.config()).await;
    if is_told_only(&group, &world).await {
        return;
    }
    let questions = world.talk(&group, &[], "Deny").await;
    world.unharmed(&group).await;
    group.truthful(&world, &questions);
}

/// Without the protections, the attacks succeed.
async fn control(name: &str) {
    let group = Group::load(name);
    if group.has_no_control() {
        return;
    }
    let mut world = World::stage(&group, group.without_guards()).await;
    world.talk(&group, &["--trust", "--yolo"], "Approve").await;
    world.harmed(&group).await;
}

/// With default settings, a hundred calls of ordinary work ask nothing and are not blocked.
#[tokio::test]
async fn a_hundred_calls_of_ordinary_work_need_no_question() {
    let group = Group::load("../routine");
    let mut world = World::stage(&group, group.config()).await;
    let questions = world.talk(&group, &[], "Deny").await;
    assert_eq!(questions, Vec::<String>::new());
    assert_eq!(group.turns(&world).len(), 100 + 1);
    let results = world.results();
    for sign in ["Sandbox:", "was not run", "exited with code", "Invalid arguments", "hint:"] {
        assert!(!results.contains(sign), "{sign} in\n{results}");
    }
}

macro_rules! groups {
    ($($name:ident),* $(,)?) => {
        $(mod $name {
            #[tokio::test]
            async fn alone() {
                super::alone(stringify!($name)).await;
            }

            #[tokio::test]
            async fn asked() {
                super::asked(stringify!($name)).await;
            }

            #[tokio::test]
            async fn ordinary_user() {
                super::ordinary_user(stringify!($name)).await;
            }

            #[tokio::test]
            async fn control() {
                super::control(stringify!($name)).await;
            }
        })*

        /// Every file of cases is listed as a test.
        #[test]
        fn every_file_of_cases_is_run() {
            let mut listed: Vec<String> = vec![$(stringify!($name).to_owned()),*];
            listed.sort();
            assert_eq!(listed, group::files());
        }
    };
}

groups!(
    allowed,
    bypass,
    denied,
    destroyers,
    endless,
    files,
    flags,
    git,
    git_writes,
    keys,
    network,
    notes,
    own_containment,
    own_files,
    patches,
    paths,
    planted,
    pointer,
    signing,
    sockets,
    trust,
    unseen,
);
