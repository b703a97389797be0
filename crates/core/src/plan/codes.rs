//! Why a declared state is refused on this host, before anything is touched. Codes are stable.

use crate::codes::Explanation;

macro_rules! codes {
    ($($name:ident = $code:literal, $title:literal, $text:literal;)*) => {
        $(#[doc = $title] pub const $name: &str = $code;)*

        /// Every code a plan can be refused with, in order.
        pub const CODES: &[Explanation] = &[$(Explanation { code: $code, title: $title, text: $text }),*];
    };
}

codes! {
    UNKNOWN_PORT = "LM1001", "port not found",
        "A bridge, bond or VRF lists a port that does not exist on this host and is not in the document. Usually \
         the name is mistyped, or the NIC has another name on this host. Open vSwitch would silently create an \
         internal port of that name; if you want one, declare it with type ovs-interface.";
    UNKNOWN_BASE = "LM1002", "base interface not found",
        "The base interface of a VLAN, VXLAN or MAC-VLAN does not exist on this host and is not in the document. \
         Correct 'base-iface', or declare the interface as well.";
    UNKNOWN_NEXT_HOP = "LM1003", "next hop interface not found",
        "The next hop interface of a route does not exist on this host and is not in the document. Correct \
         'next-hop-interface', or declare the interface as well.";
    UNKNOWN_MAC_SOURCE = "LM1004", "no MAC address to copy",
        "'copy-mac-from' names an interface whose MAC address is unknown before the change: it does not exist, or \
         this document creates it. Name an existing NIC, or set the address with 'mac-address'.";
    ADDRESS_TAKEN = "LM1005", "address is in use on another interface",
        "The same address would be on two interfaces of this host, and it is undefined which of them answers. \
         Remove it from the other interface in the same document (with an empty address list, 'enabled: false' or \
         'state: absent').";
    MTU_ABOVE_BASE = "LM1006", "MTU larger than that of the base interface",
        "The MTU of an interface cannot be larger than that of its base interface. Increase the MTU of the base \
         interface in the same document, or reduce this one.";
    BASE_GOES = "LM1007", "base interface is removed",
        "The document removes the base interface of an interface that is declared as up. Remove both, or keep both.";
    OVS_NOT_RUNNING = "LM1008", "Open vSwitch is not running",
        "The document declares Open vSwitch bridges, interfaces or database keys, but no OVS database server \
         answers on this host. Start Open vSwitch (for example with 'systemctl start openvswitch'), or remove them \
         from the document.";
    LOOPBACK = "LM1009", "not supported on the loopback interface",
        "The loopback interface cannot be a port or a base interface, and its IPv4 cannot be disabled. You can add \
         addresses to it.";
    UNKNOWN_INTERFACE = "LM1010", "interface not found",
        "The document declares an interface that does not exist on this host and cannot be created, because it is a \
         NIC or has no type. Correct the name, or set the type of the interface to create.";
    AMBIGUOUS_INTERFACE = "LM1011", "ambiguous interface name",
        "An Open vSwitch bridge and its internal interface have this name. Set 'type' to select one of them.";
    OTHER_TYPE = "LM1012", "interface has another type",
        "An interface of this name but another type exists, and the type of an interface cannot change. Remove it \
         first ('state: absent' with its current type), or choose another name.";
    NO_SUCH_DEVICE = "LM1013", "no device with this MAC or PCI address",
        "The entry matches a device by MAC or PCI address, but no device on this host has that address.";
    MTU_OUT_OF_RANGE = "LM1014", "MTU not supported by the device",
        "The declared MTU is outside the range that the device supports.";
    UNKNOWN_CONTROLLER = "LM1015", "controller not found",
        "The controller of an interface does not exist on this host and is not in the document.";
    NEXT_HOP_UNUSABLE = "LM1016", "next hop interface cannot be used",
        "The next hop interface of a route is removed, or the address family of the route is disabled on it.";
    PORT_WITH_ADDRESS = "LM1017", "port with an address",
        "A port of a bridge or bond cannot have addresses. Configure them on the controller, or remove the \
         interface from the controller (controller: '').";
    INCOMPLETE = "LM1018", "incomplete declaration",
        "An interface that does not exist yet needs a property that has no default: the mode of a bond, the table \
         of a VRF, the base interface of a VLAN, the peer of a veth.";
    UNKNOWN_MAPPED_BRIDGE = "LM1019", "mapped bridge not found",
        "An OVN bridge mapping names an Open vSwitch bridge that does not exist on this host and is not in the \
         document.";
    KERNEL_LACKS_TYPE = "LM1020", "interface type not supported by the kernel",
        "The running kernel has no driver for this interface type, neither built in nor as a loadable module. \
         Install the package with additional kernel modules (kernel-modules-extra, linux-modules-extra), boot a \
         kernel that has the driver, or remove the interface from the document. After a kernel update, a reboot may \
         be enough.";
}
