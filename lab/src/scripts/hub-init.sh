#!/bin/bash
# PID 1 of a lab's hub. Its standard input is held open by the lab's owner: when that ends, however it ends, so does
# this, and with it every process, mount and network of the lab.
set -u
mkfifo /run/nap
ip link set lo up
sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0
# A neighbour that was silent a moment ago is asked again at once, and one that moved is believed at once:
# what the hub measures is the node, not the hub's own neighbour cache.
for family in ipv4 ipv6; do
  sysctl -qw net.$family.neigh.default.retrans_time_ms=100 net.$family.neigh.default.locktime=0 \
    net.$family.neigh.default.delay_first_probe_time=1 net.$family.neigh.default.base_reachable_time_ms=5000
done
ip -batch /etc/lab/bridges || exit 1
# Between veths the kernel leaves checksums to hardware that is not there; a userspace OVS bridge passes such packets on
# as they are, and the node behind it drops every UDP and TCP packet: DNS falls silent while pings are answered.
ip -o link show type bridge | while IFS=': ' read -r _ bridge _; do ethtool -K "$bridge" tx off >/dev/null; done
dnsmasq --keep-in-foreground --conf-file=/etc/lab/dnsmasq.conf >/var/log/dnsmasq.log 2>&1 </dev/null &
for _ in {1..400}; do
  [ -e /run/dnsmasq.pid ] && break
  read -rt 0.02 _ <>/run/nap || :
done
[ -e /run/dnsmasq.pid ] || { cat /var/log/dnsmasq.log; exit 1; }
echo "lab: up"
read -r _
