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
    UNKNOWN_PORT = "LM1001", "port exists nowhere",
        "A bridge, bond or VRF lists a port that this host does not have and that the document does not make. Most \
         often the name is mistyped, or the NIC is called differently on this host. An Open vSwitch bridge would \
         quietly make an internal port of that name: declare it with type ovs-interface if that is meant.";
    UNKNOWN_BASE = "LM1002", "base interface exists nowhere",
        "A VLAN, VXLAN or MAC-VLAN sits on an interface that this host does not have and that the document does not \
         make. Correct base-iface, or declare that interface too.";
    UNKNOWN_NEXT_HOP = "LM1003", "next hop interface exists nowhere",
        "A route leaves through an interface that this host does not have and that the document does not make. \
         Correct next-hop-interface, or declare that interface too.";
    UNKNOWN_MAC_SOURCE = "LM1004", "no MAC address to copy",
        "copy-mac-from names a NIC whose MAC address is not known before the change: it does not exist, or it is made \
         by this same document. Name a NIC that exists, or give the address with mac-address.";
    ADDRESS_TAKEN = "LM1005", "address is on another interface",
        "The same address would be on two interfaces of this host, and which of them answers is chance. Take it away \
         from the other interface in the same document (an empty address list, enabled: false, or state: absent).";
    MTU_ABOVE_BASE = "LM1006", "MTU larger than the base interface's",
        "Frames of an interface on top of another one cannot be larger than those of the one below. Raise the MTU of \
         the base in the same document, or lower this one.";
    BASE_GOES = "LM1007", "base interface goes away",
        "The document removes the interface that another one, declared as up, sits on. Remove both, or keep both.";
    OVS_NOT_RUNNING = "LM1008", "Open vSwitch does not run",
        "The document declares Open vSwitch bridges, interfaces or database keys, but no OVS database answers on this \
         host. Start Open vSwitch (often: systemctl start openvswitch), or take them out of the document.";
    LOOPBACK = "LM1009", "not possible with the loopback interface",
        "The loopback interface cannot be a port, a base, or without IPv4. Addresses may be added to it.";
    UNKNOWN_INTERFACE = "LM1010", "interface exists nowhere",
        "An interface that cannot be made (a NIC, or an entry without a type) is declared, but this host does not \
         have it. Correct the name, or give the type of what is to be made.";
    AMBIGUOUS_INTERFACE = "LM1011", "name means two interfaces",
        "An Open vSwitch bridge and its internal interface share this name. Give the type to say which is meant.";
    OTHER_TYPE = "LM1012", "interface has another type",
        "An interface of this name exists, but of another type, and a device cannot change its type. Remove it first \
         (state: absent with its present type), or choose another name.";
    NO_SUCH_DEVICE = "LM1013", "no device with this identity",
        "The entry means the device with a certain MAC or PCI address, and no device of this host has it.";
    MTU_OUT_OF_RANGE = "LM1014", "MTU the device cannot have",
        "The device told which MTUs it accepts, and the declared one is outside.";
    UNKNOWN_CONTROLLER = "LM1015", "controller exists nowhere",
        "An interface is declared to be a port of a controller that this host does not have and that the document \
         does not make.";
    NEXT_HOP_UNUSABLE = "LM1016", "next hop interface cannot carry the route",
        "A route leaves through an interface that will be gone, or that has the route's address family switched off.";
    PORT_WITH_ADDRESS = "LM1017", "port with an address",
        "A port of a bridge or bond carries no addresses of its own. Put them on the controller, or take the interface \
         out of it (controller: '').";
    INCOMPLETE = "LM1018", "not enough said to make it",
        "An interface that does not exist yet lacks something that cannot be guessed: a bond's mode, a VRF's table, a \
         VLAN's base interface, a veth's peer.";
    UNKNOWN_MAPPED_BRIDGE = "LM1019", "mapped bridge exists nowhere",
        "OVN's bridge mappings name an Open vSwitch bridge that this host does not have and that the document does \
         not make.";
    KERNEL_LACKS_TYPE = "LM1020", "type that the kernel cannot make",
        "The document makes an interface of a type for which the running kernel has no driver, neither built in nor as \
         a module that it could load. NetworkManager would wait for the device in vain. Install the package with the \
         kernel's further modules (kernel-modules-extra, linux-modules-extra), boot a kernel that has it, or take the \
         interface out of the document. After an update of the kernel, a reboot may be all that is missing.";
}
