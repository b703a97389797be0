#!/bin/bash
# PID 1 of a node without systemd: starts the daemons in order and starts again those that die, as systemd would.
set -u
mkdir -p /run/lab /run/dbus /run/NetworkManager /run/lock /run/openvswitch /etc/openvswitch /var/log/openvswitch
mkfifo /run/lab/nap
exec 9<>/run/lab/nap
nap() { read -rt "$1" -u 9 _; }

hostname "$(cat /etc/hostname)"
ip link set lo up
/usr/lib/lab/net-sysctl

# keep NAME COMMAND...: for ever. `prepare_NAME` comes before each start, `settle_NAME PID` beside each run.
keep() {
  local name=$1 pid; shift
  while :; do
    "prepare_$name"
    "$@" </dev/null >>"/var/log/$name.log" 2>&1 &
    pid=$!
    "settle_$name" "$pid" &
    wait "$pid"
    rm -f "/run/lab/$name.ready"
    "bury_$name"
    nap 0.5
    while [ -e /run/lab/hold ] && [ ! -e "/run/lab/start.$name" ]; do nap 0.05; done
    rm -f "/run/lab/start.$name"
  done
}

# settle_when PID NAME COMMAND...: marks NAME as ready once the command succeeds.
settle_when() {
  local pid=$1 name=$2; shift 2
  while kill -0 "$pid" 2>/dev/null; do
    if "$@" >/dev/null 2>&1; then : >"/run/lab/$name.ready"; return; fi
    nap 0.03
  done
}
await() { while [ ! -e "/run/lab/$1.ready" ]; do nap 0.02; done; }

prepare_dbus() { rm -f /run/dbus/pid /run/dbus/system_bus_socket; }
settle_dbus() { settle_when "$1" dbus test -S /run/dbus/system_bus_socket; }
# NetworkManager lives on without a bus and never finds the new one; its unit is bound to dbus and stopped with it.
bury_dbus() { local pid; pid=$(pidof NetworkManager) && kill -TERM $pid; }

prepare_ovsdb() {
  rm -f /run/openvswitch/db.sock
  [ -s /etc/openvswitch/conf.db ] || ovsdb-tool create /etc/openvswitch/conf.db /usr/share/openvswitch/vswitch.ovsschema
}
settle_ovsdb() { settle_when "$1" ovsdb ovs-vsctl --timeout=5 --no-wait init; }
bury_ovsdb() { :; }

prepare_vswitchd() { :; }
settle_vswitchd() { settle_when "$1" vswitchd ovs-appctl --timeout=5 -t ovs-vswitchd version; }
bury_vswitchd() { :; }

prepare_NM() { await dbus; mount -o remount,ro /sys; }
nm_runs() { [ "$(nmcli -t -f RUNNING general 2>/dev/null)" = running ] && mount -o remount,rw /sys; }
settle_NM() { settle_when "$1" NM nm_runs; }
bury_NM() { :; }

keep dbus dbus-daemon --system --nofork --nopidfile --nosyslog &
if [ -x /usr/sbin/ovs-vswitchd ]; then
  keep ovsdb ovsdb-server /etc/openvswitch/conf.db --remote=punix:/run/openvswitch/db.sock \
    --remote=db:Open_vSwitch,Open_vSwitch,manager_options --log-file --pidfile -vconsole:off &
  await ovsdb
  keep vswitchd ovs-vswitchd unix:/run/openvswitch/db.sock --log-file --pidfile -vconsole:off &
  await vswitchd
fi
await dbus
/usr/lib/lab/run-all /etc/lab/boot.d
keep NM NetworkManager --no-daemon --debug &
await NM
/usr/lib/lab/run-all /etc/lab/boot-late.d
echo "lab: up"
exec </dev/null >/dev/null 2>&1
while :; do wait -n || nap 1; done
