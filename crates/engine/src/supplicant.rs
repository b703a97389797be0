//! wpa_supplicant, which NetworkManager needs for 802.1X and MACsec.

use crate::nm::Nm;

const NAME: &str = "fi.w1.wpa_supplicant1";

pub const MISSING: &str = "wpa_supplicant is neither running nor installed";

/// It is on the bus, or the bus would start it. Where the bus does not say, it is taken to be there.
pub async fn available(nm: &Nm) -> bool {
    nm.has_service(NAME).await.unwrap_or(true)
}
