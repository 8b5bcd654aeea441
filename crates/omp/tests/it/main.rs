//! The binary from the view of its users: real processes against the fake provider on loopback.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests; clippy only sees the functions marked so"
)]

#[cfg(unix)]
mod aborted_output;
mod acp;
mod answers;
mod approval_modes;
#[cfg(target_os = "linux")]
mod attacks;
#[cfg(unix)]
mod bad_input;
#[cfg(target_os = "linux")]
mod caches;
#[cfg(target_os = "linux")]
mod cages;
mod chosen;
mod commands;
mod compaction;
mod compaction_life;
mod config_cli;
mod containment;
mod context;
mod cost;
mod discovery;
mod docs;
mod doctor;
mod export;
mod faces;
mod faults;
mod file_commands;
#[cfg(unix)]
mod files;
mod first_word;
#[cfg(target_os = "linux")]
mod granted;
mod harness;
#[cfg(unix)]
mod hooks;
mod host_uris;
mod importing;
#[cfg(unix)]
mod job_ends;
mod json_mode;
#[cfg(unix)]
mod kill;
#[cfg(target_os = "linux")]
mod leftovers;
mod moving;
mod network;
#[cfg(target_os = "linux")]
mod ordinary_user;
#[cfg(target_os = "linux")]
mod orphans;
#[cfg(unix)]
mod permissions;
mod plain;
mod plan;
mod planted_facts;
mod prefix;
mod prefix_breaks;
mod print;
mod processes;
mod quarantine;
#[cfg(target_os = "linux")]
mod reach;
mod replay;
mod requests;
mod rpc;
mod rpc_runs;
mod rules;
#[cfg(unix)]
mod seat;
#[cfg(unix)]
mod secrets;
#[cfg(unix)]
mod secrets_environment;
mod secrets_kept;
#[cfg(target_os = "linux")]
mod services;
mod session_commands;
mod sessions;
mod sessions_cli;
#[cfg(target_os = "linux")]
mod set_aside;
mod settings_command;
#[cfg(unix)]
mod signals;
#[cfg(target_os = "linux")]
mod signing;
mod slash;
mod slash_failed;
mod slash_people;
mod slash_refused;
#[cfg(target_os = "linux")]
mod start_cost;
mod startup;
mod surface;
#[cfg(unix)]
mod surroundings;
#[cfg(unix)]
mod talking;
#[cfg(unix)]
mod terminal;
#[cfg(unix)]
mod terminal_day;
#[cfg(unix)]
mod terminal_faults;
#[cfg(unix)]
mod terminal_habits;
#[cfg(unix)]
mod terminal_hands;
#[cfg(unix)]
mod terminal_images;
#[cfg(unix)]
mod terminal_life;
#[cfg(unix)]
mod terminal_load;
#[cfg(unix)]
mod terminal_noise;
#[cfg(unix)]
mod terminal_pages;
#[cfg(unix)]
mod terminal_pty;
#[cfg(unix)]
mod terminal_rows;
#[cfg(unix)]
mod terminal_status;
mod terminal_tmux;
mod trust;
mod undo;
mod unused;
