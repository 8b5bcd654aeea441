//! Tests of a network limited to named hosts, with real programs: named hosts are reachable, others are not.

use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};

use super::*;

/// A server on this machine that sends a greeting to every client.
fn greeter() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let _ = client.read(&mut [0; 4096]);
            let _ = client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nhello\n");
        }
    });
    port
}

impl Scene {
    fn of_hosts(hosts: &[String]) -> Self {
        let scene = Self::new(ContainMode::WorkspaceWrite, NetworkMode::Allowlist);
        scene.access.change(|map| map.hosts.extend_from_slice(hosts));
        scene
    }
}

#[tokio::test]
async fn a_named_host_is_reached_by_curl_in_every_way() {
    let port = greeter();
    let scene = Scene::of_hosts(&[format!("localhost:{port}")]);
    for rung in VIEWS {
        for way in ["", "--proxytunnel", "--proxy $all_proxy", "--noproxy '' --socks5-hostname ${all_proxy#http://}"] {
            let said = scene.run(&format!("curl -sS {way} http://localhost:{port}/"), *rung).await;
            assert_eq!(said, "hello\n", "{rung:?} {way}");
        }
    }
}

#[tokio::test]
async fn other_hosts_and_ports_are_refused_with_the_reason() {
    let (port, other) = (greeter(), greeter());
    let scene = Scene::of_hosts(&[format!("localhost:{port}"), "api.example".to_owned()]);
    for (url, why) in [
        (format!("http://localhost:{other}/"), "not an allowed host"),
        (format!("http://127.0.0.1:{port}/"), "not an allowed host"),
        ("http://evil.example/".to_owned(), "not an allowed host"),
        ("http://169.254.169.254/latest/meta-data".to_owned(), "not an allowed host"),
    ] {
        let said = scene.run(&format!("curl -sS -w '%{{http_code}}' {url}"), Rung::Full).await;
        assert!(said.contains(why) && said.contains("hint:") && said.ends_with("403"), "{url}: {said}");
        let said = scene.run(&format!("curl -sS --proxytunnel {url}"), Rung::Full).await;
        assert!(said.contains("403") && !said.contains("hello"), "{url}: {said}");
    }
}

#[tokio::test]
async fn nothing_leaves_by_another_way() {
    let port = greeter();
    let scene = Scene::of_hosts(&[format!("localhost:{port}")]);
    let heard = UdpSocket::bind("127.0.0.1:0").unwrap();
    heard.set_nonblocking(true).unwrap();
    let udp = heard.local_addr().unwrap().port();
    let datagram = format!("echo x > /dev/udp/127.0.0.1/{udp}");
    // Checked with the network on as well, or the missing datagram would prove nothing.
    Scene::writing().run(&datagram, Rung::Full).await;
    assert_eq!(heard.recv(&mut [0; 8]).unwrap(), 2);
    for rung in VIEWS {
        scene.run(&datagram, *rung).await;
        assert!(heard.recv(&mut [0; 8]).is_err(), "{rung:?}");
        let interfaces =
            scene.run("tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '; cat /proc/net/route", *rung).await;
        assert!(interfaces.starts_with("lo\n") && interfaces.lines().count() <= 2, "{interfaces}");
    }
    for way in [
        format!("curl -sS --noproxy '*' http://127.0.0.1:{port}/"),
        format!("(exec 3<>/dev/tcp/127.0.0.1/{port})"),
        "(echo x > /dev/udp/192.0.2.1/53)".to_owned(),
        "(exec 3<>/dev/tcp/192.0.2.1/53)".to_owned(),
    ] {
        scene.denies(&way, VIEWS).await;
    }
}

#[tokio::test]
async fn what_left_is_logged_and_what_the_user_allows_counts_for_commands_that_run() {
    let port = greeter();
    let scene = Scene::of_hosts(&["localhost:1".to_owned()]);
    let containment = Containment::new(scene.access.clone());
    let egress = containment.egress().unwrap().clone();
    let ask = format!("until curl -sf http://localhost:{port}/; do :; done");
    let env = ChildEnv::unattended(&scene.env);
    let spawn = Shell::choose(&scene.env).spawn(&ask, env, &containment).cwd(scene.at("home/work"));
    let command = tokio::spawn(run(spawn));
    eventually(|| egress.seen() > 0).await;
    scene.access.change(|map| map.hosts.push(format!("localhost:{port}")));
    let (said, finished) = tokio::time::timeout(PATIENCE, command).await.unwrap().unwrap();
    assert_eq!((said.as_str(), finished.exit.code), ("hello\n", 0));
    let refused = &egress.passages()[0];
    assert_eq!((refused.host.as_str(), refused.port, refused.by), ("localhost", port, "http"));
    assert!(refused.refused.as_ref().unwrap().contains("not an allowed host"));
    eventually(|| egress.passages().iter().any(|passed| passed.refused.is_none() && passed.down > 0)).await;
}

#[tokio::test]
async fn without_a_network_of_its_own_the_command_does_not_run() {
    let scene = Scene::of_hosts(&["localhost".to_owned()]);
    let refused = scene.spawn("echo ran", Rung::Landlock).start().unwrap_err().to_string();
    assert!(refused.contains("allowlist") && refused.contains("namespaces") && refused.contains("hint:"), "{refused}");
}
