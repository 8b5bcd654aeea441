//! Hooks: shell commands that users put around prompts, calls and sessions.
