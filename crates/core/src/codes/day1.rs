//! The codes of configurations for hosts that do not exist yet, as `linesman generate` reads them, and of
//! br-ex on a host that does, as `linesman brex` derives it.

codes! {
    NO_HOSTS = "LM0901";
    BAD_HOST_NAME = "LM0902";
    HOST_TWICE = "LM0903";
    MAC_TWICE = "LM0904";
    NO_CONFIGURATION = "LM0905";
    NO_HOST = "LM0906";
    BAD_ROLE = "LM0907";
    NO_BR_EX = "LM0908";
    BR_EX = "LM0909";
    UPLINK = "LM0910";
    COPY_MAC = "LM0911";
    ADDRESS_ON_TWO_HOSTS = "LM0912";
    LEADING_ZERO = "LM0913";
    MACHINE_CONFIG_TOO_LARGE = "LM0914";
    MTU_ABOVE_PORT = "LM0915";
    NO_DEFAULT_ROUTE = "LM0921";
    UNKNOWN_UPLINK = "LM0922";
    UNSUITABLE_UPLINK = "LM0923";
    UPLINK_IN_USE = "LM0924";
    OTHER_UPLINK = "LM0925";
    BRIDGE_NAME_TAKEN = "LM0926";
    BRIDGE_UNUSABLE = "LM0927";
}
