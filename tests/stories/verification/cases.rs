//! What is declared, what is altered, and what must be said about it.

#[derive(Debug)]
pub struct Case {
    pub name: &'static str,
    pub document: &'static str,
    /// Shell, on the node, before the document is applied.
    pub before: &'static str,
    /// Shell, succeeds once the state is there; None: once there is nothing left to plan.
    pub there: Option<&'static str>,
    /// Shell, between apply and verification.
    pub alter: &'static str,
    /// Shell, after each attempt was rolled back: what no rollback restores.
    pub after: &'static str,
    /// Where ours must find fault; None: it must hold.
    pub path: Option<&'static str>,
    /// A word of nmstate's complaint; None: it finds no fault.
    pub incumbent: Option<&'static str>,
}

const fn case(name: &'static str, document: &'static str, alter: &'static str) -> Case {
    Case { name, document, before: "", there: None, alter, after: "", path: None, incumbent: None }
}

impl Case {
    const fn fails(self, path: &'static str, incumbent: &'static str) -> Self {
        Self { path: Some(path), incumbent: Some(incumbent), ..self }
    }

    /// Ours finds fault where nmstate does not look.
    const fn fails_for_us(self, path: &'static str) -> Self {
        Self { path: Some(path), ..self }
    }

    /// nmstate finds fault where ours leaves something to others, or sets it again.
    const fn holds_for_us(self, incumbent: &'static str) -> Self {
        Self { incumbent: Some(incumbent), ..self }
    }

    const fn before(self, before: &'static str) -> Self {
        Self { before, ..self }
    }

    const fn there(self, there: &'static str) -> Self {
        Self { there: Some(there), ..self }
    }

    const fn after(self, after: &'static str) -> Self {
        Self { after, ..self }
    }
}

const NIC: &str = "interfaces:
- name: eth1
  type: ethernet
  state: up
  mtu: 1400
  mac-address: 02:09:00:00:aa:01
  accept-all-mac-addresses: true
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.9.1.50, prefix-length: 24}]}
  ipv6: {enabled: true, dhcp: false, autoconf: false, address: [{ip: 'fd09:0:0:1::50', prefix-length: 64}]}
  ethtool: {feature: {tx-generic-segmentation: false}}
";

const NIC_AND_NO_MORE: &str = "interfaces:
- name: eth1
  type: ethernet
  state: up
  ipv4: {enabled: true, dhcp: false, allow-extra-address: false, address: [{ip: 10.9.1.50, prefix-length: 24}]}
  ipv6: {enabled: false}
";

const DHCP: &str = "interfaces:
- name: eth1
  type: ethernet
  state: up
  ipv4: {enabled: true, dhcp: true}
  ipv6: {enabled: true, dhcp: true, autoconf: true}
";

/// NetworkManager calls a NIC without carrier connected for some seconds more, and nmstate believes it.
const LINK_DOWN: &str = "ip link set eth1 down; until nmcli -g GENERAL.STATE device show eth1 | grep -q unavailable; do sleep 0.05; done";

/// An address that others set during a change stays after a rollback, and NetworkManager makes a profile up for it.
const WITHDRAWN: &str = "ip addr del 10.9.1.77/24 dev eth1 2>/dev/null || true
nmcli --wait 60 device disconnect eth1 2>/dev/null || true
for try in $(seq 100); do nmcli -g DEVICE connection show --active | grep -qx eth1 || exit 0; sleep 0.1; done
exit 1";

pub const LINKS: &[Case] = &[
    case("IPv4 address removed", NIC, "ip addr del 10.9.1.50/24 dev eth1")
        .fails("interfaces[eth1].ipv4.address", "ipv4"),
    case("IPv4 prefix changed", NIC, "nmcli device modify eth1 ipv4.addresses 10.9.1.50/25")
        .fails("interfaces[eth1].ipv4.address", "ipv4"),
    case("IPv6 address removed", NIC, "ip addr del fd09:0:0:1::50/64 dev eth1")
        .fails("interfaces[eth1].ipv6.address", "ipv6"),
    case("IPv4 switched off", NIC, "nmcli device modify eth1 ipv4.method disabled ipv4.addresses ''")
        .fails("interfaces[eth1].ipv4.enabled", "ipv4"),
    case("IPv4 switched on", NIC_AND_NO_MORE, "nmcli device modify eth1 ipv6.method link-local")
        .fails("interfaces[eth1].ipv6.enabled", "ipv6"),
    case("DHCP switched on", NIC, "nmcli device modify eth1 ipv4.method auto")
        .fails("interfaces[eth1].ipv4.dhcp", "dhcp"),
    case(
        "DHCP switched off",
        DHCP,
        "nmcli device modify eth1 ipv4.method manual ipv4.addresses 10.9.1.77/24",
    )
    .fails("interfaces[eth1].ipv4.dhcp", "dhcp")
    .after(WITHDRAWN),
    case("IPv6 autoconf switched on", NIC, "nmcli device modify eth1 ipv6.method auto")
        .fails("interfaces[eth1].ipv6.autoconf", "ipv6"),
    case("address added where forbidden", NIC_AND_NO_MORE, "ip addr add 10.9.1.77/24 dev eth1")
        .fails("interfaces[eth1].ipv4.address", "ipv4")
        .after(WITHDRAWN),
    // What NetworkManager sets only when it activates the profile: it is activated again.
    case("MTU", NIC, "ip link set eth1 mtu 1300").holds_for_us("mtu"),
    case("MAC address", NIC, "ip link set eth1 address 02:09:00:00:aa:02").holds_for_us("mac-address"),
    case("promiscuous mode", NIC, "ip link set eth1 promisc off").holds_for_us("accept-all-mac-addresses"),
    case("offload", NIC, "ethtool -K eth1 gso on").holds_for_us("ethtool"),
    case("link down", NIC, LINK_DOWN).fails("interfaces[eth1].state", "state"),
    case("profile taken down", NIC, "nmcli device disconnect eth1").fails("interfaces[eth1].state", "state"),
    case("address of somebody else added", NIC, "ip addr add 10.9.1.77/24 dev eth1").after(WITHDRAWN),
    case("lease asked for again", DHCP, "nmcli device reapply eth1"),
];

const BRIDGE: &str = "interfaces:
- name: br0
  type: linux-bridge
  state: up
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.20.0.1, prefix-length: 24}]}
  bridge:
    options:
      mac-ageing-time: 200
      multicast-snooping: true
      group-forward-mask: 8
      stp: {enabled: true, hello-time: 3, priority: 8192}
    port: [{name: eth1, stp-priority: 16, stp-path-cost: 50, stp-hairpin-mode: true}]
";

const TRUNK: &str = "interfaces:
- name: br0
  type: linux-bridge
  state: up
  bridge:
    port:
    - {name: eth1, vlan: {mode: trunk, enable-native: true, tag: 10, trunk-tags: [{id: 100}]}}
";

pub const BRIDGES: &[Case] = &[
    case("port removed", BRIDGE, "forget eth1").fails("interfaces[br0].bridge.port[eth1]", "port"),
    case("port added", BRIDGE, "nmcli connection add type ethernet ifname eth2 con-name rival controller br0 port-type bridge && nmcli --wait 60 connection up rival")
        .fails("interfaces[br0].bridge.port[eth2]", "port")
        .after("nmcli connection delete rival || :"),
    // A Pod's, for example: it is none of the document's business.
    case("port of others added", BRIDGE, "ip link set eth2 up master br0")
        .holds_for_us("port")
        .after("ip link set eth2 nomaster || :"),
    case("spanning tree off", BRIDGE, "ip link set br0 type bridge stp_state 0")
        .fails("interfaces[br0].bridge.options.stp.enabled", "stp"),
    case("hello time", BRIDGE, "ip link set br0 type bridge hello_time 200")
        .fails("interfaces[br0].bridge.options.stp.hello-time", "hello-time"),
    case("bridge priority", BRIDGE, "ip link set br0 type bridge priority 4096")
        .fails("interfaces[br0].bridge.options.stp.priority", "priority"),
    case("ageing time", BRIDGE, "ip link set br0 type bridge ageing_time 10000")
        .fails("interfaces[br0].bridge.options.mac-ageing-time", "mac-ageing-time"),
    case("multicast snooping", BRIDGE, "ip link set br0 type bridge mcast_snooping 0")
        .fails("interfaces[br0].bridge.options.multicast-snooping", "multicast-snooping"),
    case("forward mask", BRIDGE, "ip link set br0 type bridge group_fwd_mask 0")
        .fails("interfaces[br0].bridge.options.group-f", "group-f"),
    case("port priority", BRIDGE, "bridge link set dev eth1 priority 5")
        .holds_for_us("stp-priority"),
    case("port cost", BRIDGE, "bridge link set dev eth1 cost 77")
        .holds_for_us("stp-path-cost"),
    case("hairpin", BRIDGE, "bridge link set dev eth1 hairpin off")
        .holds_for_us("stp-hairpin-mode"),
    case("bridge removed", BRIDGE, "forget br0").fails("interfaces[br0]", "br0"),
    case("VLAN tag removed", TRUNK, "bridge vlan del dev eth1 vid 100")
        .fails("interfaces[br0].bridge.port[eth1].vlan.trunk-tags", "vlan"),
    case("VLAN tag added", TRUNK, "bridge vlan add dev eth1 vid 500")
        .fails("interfaces[br0].bridge.port[eth1].vlan.trunk-tags", "vlan"),
    case("native VLAN changed", TRUNK, "bridge vlan add dev eth1 vid 11 pvid untagged")
        .fails("interfaces[br0].bridge.port[eth1].vlan", "vlan"),
    case(
        "bridge made again that was to go",
        "interfaces: [{name: br9, state: absent}]\n",
        "ip link add br9 type bridge",
    )
    .before(
        "nmcli connection add type bridge ifname br9 con-name br9 ipv4.method disabled ipv6.method disabled",
    )
    .fails("interfaces[br9]", "br9"),
];

const VETH: &str = "interfaces:
- {name: ve0, type: veth, state: up, veth: {peer: ve1}}
- {name: ve1, type: veth, state: up, veth: {peer: ve0}}
";

const MAC_VLAN: &str = "interfaces:
- {name: eth1, type: ethernet, state: up}
- {name: mv0, type: mac-vlan, state: up, mac-vlan: {base-iface: eth1, mode: bridge, promiscuous: true}}
";

const VXLAN: &str = "interfaces:
- name: vx42
  type: vxlan
  state: up
  vxlan: {base-iface: eth1, id: 42, remote: 10.9.1.1, destination-port: 4790}
";

pub const STACKED: &[Case] = &[
    case("veth with another peer", VETH, "forget ve1; forget ve0; until ! ip link show ve0 2>/dev/null; do sleep 0.05; done; ip link add ve0 type veth peer name vez; ip link set ve0 up; ip link set vez up")
        .fails("interfaces[ve0]", "ve")
        .after("ip link delete vez || :"),
    case("veth removed", VETH, "forget ve1; forget ve0; until ! ip link show ve0 2>/dev/null; do sleep 0.05; done")
        .fails("interfaces[ve", "ve"),
    // What NetworkManager sets only when it makes the interface is made anew.
    case("MAC-VLAN mode", MAC_VLAN, "ip link set mv0 type macvlan mode vepa").holds_for_us("mode"),
    case("MAC-VLAN removed", MAC_VLAN, "forget mv0; until ! ip link show mv0 2>/dev/null; do sleep 0.05; done")
        .fails("interfaces[mv0]", "mv0"),
    case("VXLAN made again with another number", VXLAN, "forget vx42; until ! ip link show vx42 2>/dev/null; do sleep 0.05; done; ip link add vx42 type vxlan id 43 dev eth1 remote 10.9.1.1 dstport 4790; ip link set vx42 up")
        .fails("interfaces[vx42].vxlan.id", "vx42")
        .after("ip link delete vx42 || :"),
    case("VXLAN remote", VXLAN, "ip link set vx42 type vxlan id 42 remote 10.9.1.2 dev eth1")
        .holds_for_us("remote"),
];

const ROUTES: &str = "interfaces:
- name: eth1
  type: ethernet
  state: up
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.9.1.50, prefix-length: 24}]}
  ipv6: {enabled: true, dhcp: false, autoconf: false, address: [{ip: 'fd09:0:0:1::50', prefix-length: 64}]}
routes:
  config:
  - {destination: 192.0.2.0/24, next-hop-address: 10.9.1.1, next-hop-interface: eth1, metric: 150}
  - {destination: 198.51.100.0/24, next-hop-address: 10.9.1.1, next-hop-interface: eth1, table-id: 200}
  - {destination: '2001:db8::/32', next-hop-address: 'fd09:0:0:1::1', next-hop-interface: eth1}
route-rules:
  config:
  - {ip-from: 10.9.1.50/32, priority: 1000, route-table: 200}
  - {ip-from: '2001:db8:b::/64', priority: 1002, route-table: 200}
";

const NO_ROUTE: &str =
    "routes: {config: [{state: absent, destination: 203.0.113.0/24, next-hop-interface: eth0}]}\n";

const DNS: &str = "dns-resolver: {config: {server: [10.9.0.1], search: [lab.test], options: [rotate]}}\n";

/// The alternative name makes nmstate ask the kernel something after it has set the names of the host and before
/// it verifies: else this would stand still only after nmstate has read them.
const NAME: &str = "interfaces: [{name: eth1, type: ethernet, state: up, alt-names: [{name: spare}]}]
hostname: {running: worker-1, config: worker-1}
";

const NAMED: &str = "test \"$(hostname) $(cat /etc/hostname)\" = 'worker-1 worker-1'";

/// NetworkManager sets it right whenever it thinks of it.
const KEEP_NAME: &str = "touch /run/keep-name
while [ -e /run/keep-name ]; do hostname stranger; sleep 0.01; done >/dev/null 2>&1 &";

pub const HOST: &[Case] = &[
    case("IPv4 route removed", ROUTES, "ip route del 192.0.2.0/24")
        .fails("routes.config[192.0.2.0/24]", "192.0.2.0/24"),
    case(
        "IPv4 route with another metric",
        ROUTES,
        "ip route del 192.0.2.0/24; ip route add 192.0.2.0/24 via 10.9.1.1 metric 151",
    )
    .fails_for_us("routes.config[192.0.2.0/24]"),
    case("IPv4 route by another gateway", ROUTES, "ip route replace 192.0.2.0/24 via 10.9.1.2 metric 150")
        .fails("routes.config[192.0.2.0/24]", "192.0.2.0/24"),
    case("route of another table removed", ROUTES, "ip route flush table 200")
        .fails("routes.config[198.51.100.0/24]", "198.51.100.0/24"),
    case("IPv6 route removed", ROUTES, "ip -6 route del 2001:db8::/32")
        .fails("routes.config[2001:db8::/32]", "2001:db8::/32"),
    case("route of somebody else added", ROUTES, "ip route add 203.0.113.0/24 via 10.9.1.1"),
    case("route that was to go", NO_ROUTE, "ip route add 203.0.113.0/24 via 10.9.0.1 dev eth0")
        .before(
            "nmcli connection modify eth0 ipv4.routes '203.0.113.0/24 10.9.0.1'; nmcli connection up eth0",
        )
        .fails("routes.config[203.0.113.0/24]", "203.0.113.0/24"),
    case("IPv4 rule removed", ROUTES, "ip rule del priority 1000").fails("route-rules.config", "1000"),
    case(
        "IPv4 rule to another table",
        ROUTES,
        "ip rule del priority 1000; ip rule add from 10.9.1.50/32 priority 1000 table 201",
    )
    .fails_for_us("route-rules.config"),
    case("IPv6 rule removed", ROUTES, "ip -6 rule del priority 1002").fails("route-rules.config", "1002"),
    case("rule of somebody else added", ROUTES, "ip rule add from 10.77.0.0/16 priority 1500 table 200")
        .after("ip rule del priority 1500 || :"),
    case("name server", DNS, "set-global-dns 10.9.0.2 lab.test rotate")
        .fails("dns-resolver.config.server", "DNS"),
    case("search domain", DNS, "set-global-dns 10.9.0.1 other.test rotate")
        .fails("dns-resolver.config.search", "DNS"),
    case("resolver option", DNS, "set-global-dns 10.9.0.1 lab.test edns0")
        .fails("dns-resolver.config.options", "DNS"),
    case("running name", NAME, KEEP_NAME)
        .there(NAMED)
        .fails("hostname.running", "hostname")
        .after("rm -f /run/keep-name; nmcli general hostname n1; hostname n1"),
    case("fixed name", NAME, "nmcli general hostname stranger; hostname worker-1")
        .there(NAMED)
        .fails("hostname.config", "hostname")
        .after("nmcli general hostname n1; hostname n1"),
];

const SWITCH: &str = "interfaces:
- name: ovs0
  type: ovs-bridge
  state: up
  ovs-db: {external_ids: {made-by: linesman}, other_config: {mac-aging-time: '200'}}
  bridge:
    options: {datapath: netdev, fail-mode: secure, stp: {enabled: false}, mcast-snooping-enable: false}
    port:
    - {name: eth1}
    - {name: ovs0i, vlan: {mode: access, tag: 10}}
- name: ovs0i
  type: ovs-interface
  state: up
  mtu: 1400
  ovs-db: {external_ids: {iface: ours}}
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.50.0.1, prefix-length: 24}]}
";

const KEYS: &str = "ovs-db: {external_ids: {site: lab}, other_config: {max-idle: '20000'}}\n";

pub const OVS: &[Case] = &[
    case("uplink removed", SWITCH, "forget eth1").fails("interfaces[ovs0].bridge.port[eth1]", "port"),
    case("port of others added", SWITCH, "ovs-vsctl add-port ovs0 eth2")
        .holds_for_us("port")
        .after("ovs-vsctl --if-exists del-port eth2"),
    case("fail mode", SWITCH, "ovs-vsctl set-fail-mode ovs0 standalone")
        .fails("interfaces[ovs0].bridge.options.fail-mode", "fail-mode"),
    case("spanning tree", SWITCH, "ovs-vsctl set bridge ovs0 stp_enable=true")
        .fails("interfaces[ovs0].bridge.options.stp", "stp"),
    case("multicast snooping", SWITCH, "ovs-vsctl set bridge ovs0 mcast_snooping_enable=true")
        .fails("interfaces[ovs0].bridge.options.mcast-snooping-enable", "mcast-snooping-enable"),
    case("port's tag", SWITCH, "ovs-vsctl set port ovs0i tag=11").fails("interfaces[ovs0].bridge.port[ovs0i].vlan.tag", "tag"),
    case("key of the bridge changed", SWITCH, "ovs-vsctl set bridge ovs0 external_ids:made-by=stranger")
        .fails("interfaces[ovs0].ovs-db.external_ids", "ovs-db"),
    case("setting of the bridge removed", SWITCH, "ovs-vsctl remove bridge ovs0 other_config mac-aging-time")
        .fails("interfaces[ovs0].ovs-db.other_config", "ovs-db"),
    case("key of the interface removed", SWITCH, "ovs-vsctl remove interface ovs0i external_ids iface")
        .fails("interfaces[ovs0i].ovs-db.external_ids", "ovs-db"),
    case("MTU of the interface", SWITCH, "ovs-vsctl set interface ovs0i mtu_request=1300; ip link set ovs0i mtu 1300")
        .fails("interfaces[ovs0i].mtu", "mtu"),
    case("address of the interface", SWITCH, "ip addr del 10.50.0.1/24 dev ovs0i").fails("interfaces[ovs0i].ipv4.address", "ipv4"),
    case("bridge removed", SWITCH, "forget ovs0i; forget ovs0").fails("interfaces[ovs0", "ovs0"),
    case("key of the database changed", KEYS, "ovs-vsctl set Open_vSwitch . external_ids:site=elsewhere")
        .fails("ovs-db.external_ids", "ovsdb")
        .after("ovs-vsctl remove Open_vSwitch . external_ids site; ovs-vsctl remove Open_vSwitch . other_config max-idle"),
    case("setting of the database removed", KEYS, "ovs-vsctl remove Open_vSwitch . other_config max-idle")
        .fails("ovs-db.other_config", "ovsdb")
        .after("ovs-vsctl remove Open_vSwitch . external_ids site; ovs-vsctl remove Open_vSwitch . other_config max-idle"),
    case("key of somebody else added", KEYS, "ovs-vsctl set Open_vSwitch . external_ids:rack=7")
        .after("ovs-vsctl clear Open_vSwitch . external_ids; ovs-vsctl remove Open_vSwitch . other_config max-idle"),
];
