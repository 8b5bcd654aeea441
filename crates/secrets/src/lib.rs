//! Secrets: collected, hidden from the model, restored in what it asks for, kept out of everything written.
