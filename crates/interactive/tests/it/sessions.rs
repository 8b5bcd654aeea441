//! Other sessions in the place of this one.
