//! Fills the region into the host names of Amazon's endpoints.

use std::borrow::Cow;

use omp_types::{Env, vars};

const BLANK: &str = "{region}";
const USUAL: &str = "us-east-1";

/// Returns the URL with the region from the environment. A value that is not a valid region is not used.
pub(super) fn filled<'a>(env: &Env, url: &'a str) -> Cow<'a, str> {
    if !url.contains(BLANK) {
        return url.into();
    }
    let region = env.get(vars::AWS_REGION).or_else(|| env.get(vars::AWS_DEFAULT_REGION)).unwrap_or(USUAL).trim();
    match !region.is_empty() && region.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        true => url.replace(BLANK, region).into(),
        false => url.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_region_comes_from_the_environment() {
        for (env, url, expect) in [
            (vec![], "https://x.{region}.aws", "https://x.us-east-1.aws"),
            (vec![("AWS_DEFAULT_REGION", "eu-west-1")], "https://x.{region}.aws", "https://x.eu-west-1.aws"),
            (
                vec![("AWS_DEFAULT_REGION", "eu-west-1"), ("AWS_REGION", "ap-south-1")],
                "https://x.{region}.aws",
                "https://x.ap-south-1.aws",
            ),
            (vec![("AWS_REGION", "evil.example/")], "https://x.{region}.aws", "https://x.{region}.aws"),
            (vec![("AWS_REGION", "eu-west-1")], "https://{location}.com", "https://{location}.com"),
        ] {
            assert_eq!(filled(&env.into_iter().collect(), url), expect);
        }
    }
}
