//! Processes through the binary: servers of earlier calls, words that occur in omp's own arguments, shells that start
//! slowly, and machines without free threads.

use omp_testkit::{Script, Turn, Wire};
use serde_json::json;

use crate::harness::{Omp, Scene};

fn bash(command: &str) -> Turn {
    Turn::call("bash", json!({"command": command}))
}

#[tokio::test]
async fn a_server_of_an_earlier_call_is_found_and_ended_and_omp_is_not() {
    let serve = "mkfifo up; python3 -c \"import http.server as h, os; s = h.HTTPServer(('127.0.0.1', 0), None); \
        open('up', 'w').write('%d %d' % (s.server_port, os.getpid())); s.serve_forever()\" >log 2>&1 & cat up >where";
    let look = "read port pid <where; [ \"$(lsof -ti:$port)\" = \"$pid\" ] && echo lsof-sees-it; \
        kill $(lsof -ti:$port) && echo ended; pgrep -f 'words in the [p]rompt'; echo found-nobody";
    let script = Script::new(vec![bash(serve), bash(look), Turn::text("Done.")]);
    let scene = Scene::new(Wire::Anthropic, script).await;
    scene.omp(&["--yolo", "-p", "words in the prompt"]).run().await.exits(0).prints("Done.\n");
    let told = scene.last_request().json().unwrap()["messages"].to_string();
    assert!(told.contains("lsof-sees-it\\nended\\nfound-nobody\\n"), "{told}");
}

#[tokio::test]
async fn a_large_variable_is_told_of_and_heals() {
    let make = "B=xxxxxxxxxxxxxxxx; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do B=$B$B; done; export B";
    let script = Script::new(vec![bash(make), bash("/bin/ls"), bash("unset B; /bin/echo healed"), Turn::text("Done.")]);
    let scene = Scene::new(Wire::Anthropic, script).await;
    scene.omp(&["--yolo", "-p", "go"]).run().await.exits(0).prints("Done.\n");
    let told = scene.last_request().json().unwrap()["messages"].to_string();
    assert!(told.contains("The exported variable B has 256 KiB") && told.contains("healed\\n"), "{told}");
}

#[tokio::test]
async fn start_files_that_hang_are_told_of() {
    let scene = Scene::new(Wire::Anthropic, Script::new(vec![bash("echo up"), Turn::text("Done.")])).await;
    std::fs::write(scene.workspace.home().join(".bashrc"), "sleep 300\n").unwrap();
    let settings = scene.workspace.path("limit.yml");
    std::fs::write(&settings, "bash:\n  startFilesTimeout: 1\n").unwrap();
    let omp = scene.omp(&["--yolo", "--config", settings.to_str().unwrap(), "-p", "go"]).env("SHELL", "/bin/bash");
    omp.run().await.exits(0).prints("Done.\n");
    let told = scene.last_request().json().unwrap()["messages"].to_string();
    assert!(told.contains("took longer than 1 seconds") && told.contains("bash.startFilesTimeout"), "{told}");
}

/// The limit does not apply to root.
#[tokio::test]
async fn no_more_threads_are_told_and_nothing_panics() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let scene = Scene::new(Wire::Anthropic, Script::new(vec![Turn::text("Done.")])).await;
    let limited = "exec setpriv --reuid=54321 --clear-groups prlimit --nproc=6 \"$@\"";
    let omp = Omp::behind(limited, &scene.workspace, &["--version"]);
    omp.run().await.exits(0);
    let omp = Omp::behind(limited, &scene.workspace, &["-p", "go"]);
    omp.run().await.exits(1).complains(&["limit of processes", "hint:", "ulimit -u"]);
}
