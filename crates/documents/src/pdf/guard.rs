//! Checks that the PDF parser does not make itself: streams that unpack to gigabytes, pages that are their own parents, and
//! forms that draw themselves. The last two would overflow the stack, which `catch_unwind` cannot catch.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::Read;

use flate2::read::ZlibDecoder;
use memchr::memmem;
use pdf_extract::{Dictionary, Document as Pdf, Object, ObjectId, Stream};

use crate::{DocumentError, DocumentLimits, sealed};

/// Limit on the parents of a page, and on nested forms.
const MAX_DEPTH: usize = 32;
/// Limit on forms drawn on one page, with nested ones counted each time.
const MAX_FORMS: u64 = 20_000;

/// Measures the unpacked size of every compressed stream, before anything is parsed.
pub fn measure_raw(bytes: &[u8], limits: DocumentLimits) -> Result<(), DocumentError> {
    let mut left = limits.unpacked_bytes;
    for start in memmem::find_iter(bytes, b"stream") {
        if bytes[..start].ends_with(b"end") {
            continue;
        }
        let data = &bytes[start + b"stream".len()..];
        let data = data.strip_prefix(b"\r\n").or_else(|| data.strip_prefix(b"\n")).unwrap_or(data);
        let dictionary = &bytes[start.saturating_sub(512)..start];
        let own = memmem::rfind(dictionary, b" obj").map_or(dictionary, |at| &dictionary[at..]);
        let layers = memmem::find_iter(own, b"FlateDecode").count();
        if layers > 1 {
            return Err(DocumentError::broken("it has streams that are compressed twice"));
        }
        if layers == 1 {
            inflate(data, &mut left, limits)?;
        }
    }
    Ok(())
}

/// Measures the streams of a file that are readable only after decryption.
pub fn measure(pdf: &Pdf, limits: DocumentLimits) -> Result<(), DocumentError> {
    let mut left = limits.unpacked_bytes;
    for object in pdf.objects.values() {
        if let Object::Stream(stream) = object {
            inflate(&stream.content, &mut left, limits)?;
        }
    }
    Ok(())
}

fn inflate(data: &[u8], left: &mut u64, limits: DocumentLimits) -> Result<(), DocumentError> {
    // Damaged data ends early here as in the parser.
    let mut rest = ZlibDecoder::new(data).take(*left);
    let mut chunk = [0; 16 * 1024];
    while let Ok(count @ 1..) = rest.read(&mut chunk) {
        *left = left.saturating_sub(count as u64);
        sealed::check_time()?;
    }
    if *left == 0 { Err(DocumentError::Bomb { most: limits.unpacked_bytes }) } else { Ok(()) }
}

pub struct PdfGuard<'a> {
    pdf: &'a Pdf,
    /// The number of forms drawn for each form.
    known: RefCell<HashMap<ObjectId, u64>>,
}

impl<'a> PdfGuard<'a> {
    pub fn new(pdf: &'a Pdf) -> Self {
        Self { pdf, known: RefCell::default() }
    }

    /// Checks that a page can be parsed without endless recursion.
    pub fn check(&self, page: ObjectId) -> Result<(), String> {
        let dictionary = self.pdf.get_dictionary(page).map_err(|error| error.to_string())?;
        let resources = self.resources(dictionary)?;
        let contents = self.pdf.get_page_contents(page);
        let streams = contents.iter().filter_map(|id| self.pdf.get_object(*id).ok()?.as_stream().ok());
        let drawn = streams.map(draws).fold(0, u64::saturating_add);
        let forms = resources.map_or(Ok(1), |resources| self.forms(resources, 0))?;
        if drawn.saturating_mul(forms) > MAX_FORMS { Err("it draws too many forms".into()) } else { Ok(()) }
    }

    /// Returns the resources of a page, which may be inherited from its parents.
    fn resources(&self, page: &'a Dictionary) -> Result<Option<&'a Dictionary>, String> {
        let mut node = page;
        let mut found = None;
        for _ in 0..MAX_DEPTH {
            found = found.or_else(|| self.dictionary(node, b"Resources"));
            match self.dictionary(node, b"Parent") {
                Some(parent) => node = parent,
                None => return Ok(found),
            }
        }
        Err("its parents form a loop".into())
    }

    /// Returns the maximum number of forms drawn by one of the forms in these resources, including itself.
    fn forms(&self, resources: &'a Dictionary, depth: usize) -> Result<u64, String> {
        if depth > MAX_DEPTH {
            return Err("its forms are nested without end".into());
        }
        let mut most = 1;
        let Some(objects) = self.dictionary(resources, b"XObject") else { return Ok(most) };
        for (_, object) in objects {
            let Ok((id, Object::Stream(form))) = self.pdf.dereference(object) else { continue };
            if form.dict.get(b"Subtype").and_then(Object::as_name).is_ok_and(|kind| kind == b"Image") {
                continue;
            }
            most = most.max(self.weight(id, form, resources, depth)?);
        }
        Ok(most)
    }

    fn weight(
        &self,
        id: Option<ObjectId>,
        form: &'a Stream,
        around: &'a Dictionary,
        depth: usize,
    ) -> Result<u64, String> {
        let known = id.and_then(|id| self.known.borrow().get(&id).copied());
        if let Some(known) = known {
            return Ok(known);
        }
        let drawn = draws(form);
        let own = self.dictionary(&form.dict, b"Resources");
        let weight = match own.unwrap_or(around) {
            _ if drawn == 0 => 1,
            resources => 1 + drawn.saturating_mul(self.forms(resources, depth + 1)?),
        };
        if let Some(id) = id {
            self.known.borrow_mut().insert(id, weight);
        }
        Ok(weight)
    }

    fn dictionary(&self, of: &'a Dictionary, key: &[u8]) -> Option<&'a Dictionary> {
        let (_, object) = self.pdf.dereference(of.get(key).ok()?).ok()?;
        object.as_dict().ok()
    }
}

/// Counts the `Do` operators, which draw a form or an image, in a stream. Occurrences in strings are counted as well.
fn draws(stream: &Stream) -> u64 {
    let plain = stream.decompressed_content();
    let content = plain.as_deref().unwrap_or(&stream.content);
    memmem::find_iter(content, b"Do").count() as u64
}
