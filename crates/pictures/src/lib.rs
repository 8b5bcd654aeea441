//! Images as models take them: decoded, resized, encoded.
//!
//! Providers scale pictures down to 1568 pixels a side anyway, and refuse those above 5 MB of base64. A picture that
//! they refuse stays in the conversation and spoils every later request, so nothing leaves here that did not decode.

mod encoded;
mod kind;
mod prepare;
mod raster;

pub use encoded::{EncodedPicture, MAX_SIDE, fit_encoded, is_fit, prepare_encoded};
pub use kind::PictureFormat;
pub use prepare::{MAX_FILE_BYTES, PictureError, PictureLimits, PreparedPicture, prepare};
pub use raster::{Raster, dimensions, raster};
