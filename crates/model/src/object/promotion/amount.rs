//! Shares and amounts: `98%`, `2.5%`, `3`.

use std::fmt;
use std::str::FromStr;

/// A share of a whole, in hundredths of a percent: 0 to 10,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Share(u16);

/// A number, or a share of a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Amount {
    /// At most this many.
    Count(u32),
    /// At most this share.
    Share(Share),
}

/// A text is no share: it is not a number from 0 to 100 with at most two decimals and a percent sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a share is a number from 0 to 100 with a percent sign, such as `2.5%`")]
pub struct ShareError;

impl Share {
    /// The whole.
    pub const ALL: Self = Self(10_000);

    /// The share in hundredths of a percent. More than 10,000 counts as 10,000.
    pub fn of_hundredths(hundredths: u16) -> Self {
        Self(hundredths.min(10_000))
    }

    /// The share in hundredths of a percent.
    pub fn hundredths(self) -> u16 {
        self.0
    }

    /// Whether a part of a whole has at least this share.
    pub fn is_reached(self, part: u64, whole: u64) -> bool {
        u128::from(part) * 10_000 >= u128::from(whole) * u128::from(self.0)
    }
}

impl Amount {
    /// The largest number of a whole that the amount allows.
    pub fn limit(self, whole: u64) -> u64 {
        match self {
            Self::Count(count) => u64::from(count),
            Self::Share(share) => u64::try_from(u128::from(whole) * u128::from(share.0) / 10_000).unwrap_or(u64::MAX),
        }
    }
}

impl FromStr for Share {
    type Err = ShareError;

    fn from_str(text: &str) -> Result<Self, ShareError> {
        let number = text.strip_suffix('%').ok_or(ShareError)?;
        let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let has_decimals = number.contains('.');
        if whole.is_empty()
            || !is_number(number.replace('.', "").as_str())
            || decimals.len() > 2
            || (has_decimals && decimals.is_empty())
        {
            return Err(ShareError);
        }
        let hundredths = format!("{whole}{decimals:0<2}").parse::<u32>().map_err(|_| ShareError)?;
        u16::try_from(hundredths).ok().filter(|hundredths| *hundredths <= 10_000).map(Self).ok_or(ShareError)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 100, self.0 % 100);
        match rest {
            0 => write!(f, "{whole}%"),
            rest if rest % 10 == 0 => write!(f, "{whole}.{}%", rest / 10),
            rest => write!(f, "{whole}.{rest:02}%"),
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => count.fmt(f),
            Self::Share(share) => share.fmt(f),
        }
    }
}

impl FromStr for Amount {
    type Err = ShareError;

    fn from_str(text: &str) -> Result<Self, ShareError> {
        match text.parse() {
            Ok(count) if text.bytes().all(|byte| byte.is_ascii_digit()) => Ok(Self::Count(count)),
            _ => text.parse().map(Self::Share),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_percentage_with_up_to_two_decimals() {
        let parsed = |text: &str| text.parse::<Share>().map(|share| (share.hundredths(), share.to_string()));
        assert_eq!(parsed("98%"), Ok((9_800, "98%".to_owned())));
        assert_eq!(parsed("2.5%"), Ok((250, "2.5%".to_owned())));
        assert_eq!(parsed("0.05%"), Ok((5, "0.05%".to_owned())));
        assert_eq!(parsed("100%").map(|(hundredths, _)| hundredths), Ok(10_000));
        for wrong in ["", "%", "98", "101%", "-1%", "1.234%", "1.%", ".5%", "1 %", "+1%", "1e1%"] {
            assert_eq!(parsed(wrong), Err(ShareError), "{wrong}");
        }
    }

    #[test]
    fn an_amount_is_a_number_or_a_share_of_the_whole() {
        let of = |text: &str, whole| text.parse::<Amount>().map(|amount| amount.limit(whole));
        assert_eq!(of("3", 10), Ok(3));
        assert_eq!(of("2%", 1_000), Ok(20));
        assert_eq!(of("2%", 49), Ok(0));
        assert_eq!(of("-3", 10), Err(ShareError));
    }

    #[test]
    fn a_share_is_reached_exactly() {
        let share: Share = "98%".parse().unwrap();
        assert!(share.is_reached(98, 100) && !share.is_reached(97, 100) && share.is_reached(0, 0));
    }
}
