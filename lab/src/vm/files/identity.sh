# identity NAME MACHINE-ID TIME DISKS: a machine that was saved becomes one of its own.
date -s "@$3" >/dev/null
# journald goes on in the folder that it has open, and journalctl looks for one of this name.
ln -s "$(cat /etc/machine-id)" "/var/log/journal/$2"
echo "$2" >/etc/machine-id
# By hostnamed: NetworkManager listens to it, and would set the hostname that it knows.
# It gives up after 25 s, which a machine that is emulated on a busy one may need to start it.
for i in 1 2 3 4; do hostnamectl set-hostname "$1" && break; done
[ "$(uname -n)" = "$1" ]
disks() {
  n=0
  for block in /sys/block/vd[b-z]; do [ ! -s "$block/serial" ] || n=$((n + 1)); done
  [ "$n" -ge "$1" ]
}
for i in $(seq 500); do disks "$4" && break; sleep 0.02; done
/usr/lib/lab/mount-disks
