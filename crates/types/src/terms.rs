//! Options of a request: a tool that must be called, and the service tier.

use std::str::FromStr;
use std::sync::Arc;

/// Most requests set none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// The tool that the answer must call, one of the request's own.
    pub tool: Option<Arc<str>>,
    /// Sent if the provider supports tiers.
    pub tier: Option<ServiceTier>,
}

/// The priority and price class of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceTier {
    Auto,
    Default,
    Flex,
    Scale,
    Priority,
}

impl ServiceTier {
    pub const ALL: [Self; 5] = [Self::Auto, Self::Default, Self::Flex, Self::Scale, Self::Priority];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Default => "default",
            Self::Flex => "flex",
            Self::Scale => "scale",
            Self::Priority => "priority",
        }
    }
}

impl FromStr for ServiceTier {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|tier| tier.as_str() == word).ok_or_else(|| {
            let known = Self::ALL.map(Self::as_str).join(", ");
            format!("unknown service tier `{word}`\nhint: use none, {known}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiers_are_known_by_their_words() {
        for tier in ServiceTier::ALL {
            assert_eq!(tier.as_str().parse(), Ok(tier));
        }
        assert!("fast".parse::<ServiceTier>().unwrap_err().contains("priority"));
    }
}
