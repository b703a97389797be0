# An Open vSwitch of the hub's own, in userspace, with one bridge `sw` that nothing is connected to.
# The bridge itself is a device of the hub, and would answer for the gateways' addresses, which are not its own.
sysctl -qw net.ipv4.conf.all.arp_ignore=1
mkdir -p /run/openvswitch /etc/openvswitch /var/log/openvswitch
ovsdb-tool create /run/openvswitch/conf.db /usr/share/openvswitch/vswitch.ovsschema
ovsdb-server /run/openvswitch/conf.db --remote=punix:/run/openvswitch/db.sock --pidfile --detach --no-chdir --log-file
# Nodes leave checksums to the hardware; a switch that knows of segmentation offload completes them, others pass them on.
ovs-vsctl --timeout=60 --no-wait init -- set Open_vSwitch . other_config:userspace-tso-enable=true
ovs-vswitchd --pidfile --detach --no-chdir --log-file
ovs-vsctl --timeout=60 add-br sw -- set bridge sw datapath_type=netdev
