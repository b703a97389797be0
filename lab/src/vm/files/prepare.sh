# What is done once before a machine is saved. Each started from it then has its own identity; NetworkManager reads its
# secret key only when it first needs it.
test ! -e /var/lib/NetworkManager/secret_key
# The drivers are there before the NICs are.
modprobe --all virtio_net igb igbvf
# What a machine needs at once when it is started from this is in memory already.
nmcli device >/dev/null
ip -json link >/dev/null
busctl get-property org.freedesktop.NetworkManager /org/freedesktop/NetworkManager org.freedesktop.NetworkManager State >/dev/null
: >/var/log/NM.log
sync
# What runs for seconds when it was needed is running: hostnamed, NetworkManager's dispatcher, udev's workers.
hostnamectl set-hostname saved
for i in $(seq 100); do systemctl --quiet is-active NetworkManager-dispatcher && break; sleep 0.1; done
udevadm trigger --subsystem-match=net --subsystem-match=block --settle
