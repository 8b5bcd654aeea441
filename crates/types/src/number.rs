//! Writes whole floating-point numbers without a fraction, as the reference program's files do.

use serde::Serializer;

/// Largest magnitude below which every whole `f64` is exact.
const EXACT: f64 = 9_007_199_254_740_992.0;

pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.fract() == 0.0 && value.abs() < EXACT {
        serializer.serialize_i64(*value as i64)
    } else {
        serializer.serialize_f64(*value)
    }
}

pub mod option {
    //! Serialization of `Option<f64>`.
    use serde::Serializer;

    pub fn serialize<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(number) => super::serialize(number, serializer),
            None => serializer.serialize_none(),
        }
    }
}
