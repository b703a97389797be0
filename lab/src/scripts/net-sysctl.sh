#!/bin/sh
# Duplicate address detection costs a second or two whenever an address moves, and there is no duplicate here.
if [ ! -e /etc/lab/dad ]; then
  for setting in /proc/sys/net/ipv6/conf/*/accept_dad; do echo 0 >"$setting"; done
fi

# With Open vSwitch in user space, the kernel too receives what arrives on an uplink, and would answer for an address
# that has moved to the bridge: every ping twice, and a dead vswitchd unnoticed. So: a NIC takes only what is for itself.
set -eu
sysctl -qw net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.default.arp_ignore=1
nft -f - <<'X'
table inet lab-uplinks {
	chain prerouting {
		type filter hook prerouting priority raw;
		iifname "eth*" fib daddr type local fib daddr . iif type != local drop
	}
}
X
