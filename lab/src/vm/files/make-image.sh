# Runs in a mount namespace of its own: installs a kernel on top of LAB_ROOT and of LAB_LAYER, and makes a disk of it.
# In LAB_OUT: vmlinuz, initrd.img, base.img.
set -eu
cd "$LAB_OUT"
mkdir upper work root
mount -t overlay overlay -o "lowerdir=$LAB_ROOT,upperdir=$LAB_OUT/upper,workdir=$LAB_OUT/work" root
mount -t proc proc root/proc
mount -t tmpfs -o mode=755 tmpfs root/dev
mkdir root/dev/pts root/dev/shm
for device in null zero full random urandom tty; do touch "root/dev/$device"; mount --bind "/dev/$device" "root/dev/$device"; done
ln -s /proc/self/fd root/dev/fd
rm -f root/etc/resolv.conf
cat /etc/resolv.conf >root/etc/resolv.conf
# Nothing is started in there.
printf '#!/bin/sh\nexit 101\n' >root/usr/sbin/policy-rc.d
chmod 755 root/usr/sbin/policy-rc.d
# A mirror may lag behind: the date of its Release file is not checked, its signature is.
apt() { chroot root env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive ${http_proxy:+http_proxy="$http_proxy"} \
  apt-get -q -o Acquire::Check-Valid-Until=false -o APT::Install-Recommends=false -o Dpkg::Options::=--force-confold "$@"; }
apt update
mkdir -p root/etc/initramfs-tools/conf.d
printf 'MODULES=list\nCOMPRESS=gzip\n' >root/etc/initramfs-tools/conf.d/lab
# What the root and the line to the lab need; the rest comes from the disk.
printf 'virtio_pci\nvirtio_blk\nvirtio_console\next4\n' >root/etc/initramfs-tools/modules
# Not the kernel for clouds, which has no hsr and no NIC with virtual functions.
apt --yes install linux-image-amd64 initramfs-tools
# For 802.1X and MACsec, with somebody at the other end.
apt --yes install wpasupplicant hostapd
# Started when they are needed; a boot is slow enough.
rm -f root/etc/systemd/system/multi-user.target.wants/wpa_supplicant.service root/etc/systemd/system/multi-user.target.wants/hostapd.service
cp root/boot/vmlinuz-* vmlinuz
cp root/boot/initrd.img-* initrd.img
for module in bonding 8021q vrf dummy macvlan macvtap ipvlan vxlan openvswitch hsr macsec bridge veth igb igbvf; do
  # The kernel's own file names use either character.
  name=$(printf %s "$module" | sed 's/[_-]/[_-]/g')
  found=$(find root/usr/lib/modules -name "$name.ko*" | head -n 1)
  [ -n "$found" ] || grep -q "/$name\.ko" root/usr/lib/modules/*/modules.builtin || { echo "this kernel has no $module"; exit 1; }
done
rm -rf root/boot/* root/var/lib/apt/lists/* root/var/cache/apt/* root/usr/sbin/policy-rc.d
# Masking ovs-record-hostname would stop openvswitch-switch, which requires it: the requirement has to go.
rm -rf root/etc/systemd/system/openvswitch-switch.service.requires
cp -a "$LAB_LAYER/." root/
umount root/dev/null root/dev/zero root/dev/full root/dev/random root/dev/urandom root/dev/tty
umount root/dev root/proc
mke2fs -q -t ext4 -J size=16 -E lazy_itable_init=0,lazy_journal_init=0 -d root base.img 2G
umount root
rm -rf upper work root
