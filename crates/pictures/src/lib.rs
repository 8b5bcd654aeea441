//! Prepares images for models: decodes, resizes, encodes.
//!
//! Providers scale images down to 1568 pixels per side anyway, and refuse those above 5 MB of base64. A refused image stays
//! in the conversation and breaks every later request, so only images that decode successfully are returned.

mod encoded;
mod kind;
mod prepare;
mod raster;

pub use encoded::{EncodedPicture, MAX_SIDE, fit_encoded, is_fit, prepare_encoded};
pub use kind::PictureFormat;
pub use prepare::{MAX_FILE_BYTES, PictureError, PictureLimits, PreparedPicture, prepare};
pub use raster::{Raster, dimensions, raster};
