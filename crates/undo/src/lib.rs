//! What calls changed in the workspace, and taking it back.
