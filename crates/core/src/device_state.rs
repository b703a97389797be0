//! NetworkManager's numbers for the state of a device and the reason for it, in its own words.

/// `nmcli device` shows the same words.
pub fn state(number: u32) -> &'static str {
    match number {
        10 => "unmanaged",
        20 => "unavailable",
        30 => "disconnected",
        40 => "connecting (prepare)",
        50 => "connecting (configuring)",
        60 => "connecting (need authentication)",
        70 => "connecting (getting IP configuration)",
        80 => "connecting (checking IP connectivity)",
        90 => "connecting (starting secondary connections)",
        100 => "connected",
        110 => "deactivating",
        120 => "connection failed",
        _ => "unknown",
    }
}

/// Why a device is in its state; none where NetworkManager has nothing to say that people could act on.
pub fn reason(number: u32) -> Option<&'static str> {
    Some(match number {
        4 => "the configuration of the device could not be applied",
        5 => "IP configuration could not be reserved (no address could be had, or it is in use elsewhere)",
        6 => "the IP configuration is no longer valid",
        7 => "secrets were required, but not provided",
        8 => "the 802.1X supplicant disconnected",
        9 => "the configuration of the 802.1X supplicant failed",
        10 => "the 802.1X supplicant quit or failed",
        11 => "the 802.1X supplicant took too long to authenticate",
        15 => "the DHCP client failed to start",
        16 => "the DHCP client reported an error",
        17 => "the DHCP client quit or failed",
        35 => "the necessary firmware is missing",
        36 => "the device was removed",
        38 => "the connection was deleted or disappeared",
        39 => "disconnected by a user or client",
        40 => "the link is down",
        41 => "the device was found to be connected already",
        42 => "the 802.1X supplicant is now available",
        50 => "a dependency of the connection failed",
        54 => "a secondary connection failed",
        55 => "a DCB or FCoE setup failed",
        60 => "a new activation was queued",
        61 => "the parent device changed",
        62 => "the parent device is no longer managed",
        63 => "the Open vSwitch database connection failed",
        64 => "a duplicate IP address was detected",
        65 => "the selected IP method is not supported",
        66 => "the SR-IOV configuration failed",
        67 => "the peer could not be found",
        _ => return None,
    })
}

/// Both as one phrase.
pub fn describe(number: u32, why: u32) -> String {
    match reason(why) {
        Some(reason) => format!("{}: {reason}", state(number)),
        None => state(number).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_follows_the_state_where_there_is_one() {
        assert_eq!(describe(50, 0), "connecting (configuring)");
        assert_eq!(describe(120, 64), "connection failed: a duplicate IP address was detected");
    }
}
