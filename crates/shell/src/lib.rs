//! What a shell script would run, read before it runs.
