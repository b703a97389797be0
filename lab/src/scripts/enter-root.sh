# Runs in fresh namespaces with the machine's programs: builds the root of a hub or a node, then becomes its init.
# LAB_DIR its folder, LAB_LOWER the overlay's lower layers, LAB_INIT what to become;
# LAB_CGROUP is set for systemd;
# LAB_BINDS and LAB_DISKS: one "source<TAB>target" a line, files bound read-only and ext4 images to mount.
set -eu
tab=$(printf '\t')
cd "$LAB_DIR"
mount -t overlay overlay -o "lowerdir=$LAB_LOWER,upperdir=$LAB_DIR/upper,workdir=$LAB_DIR/work" root
cd root
mount -t proc proc proc
# Read-only while NetworkManager starts: else it waits for a udev that is not there, and manages no NIC.
mount -t sysfs -o ro sysfs sys
mount -t tmpfs -o mode=755 tmpfs run
# Each start is a boot of its own, though the kernel has booted once.
cat proc/sys/kernel/random/uuid >run/boot_id
mount -o bind,ro run/boot_id proc/sys/kernel/random/boot_id
rm run/boot_id
mount -t tmpfs -o mode=1777 tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs dev
mkdir -p dev/net dev/pts dev/shm
for device in null zero full random urandom tty net/tun; do
  if [ -e "/dev/$device" ]; then touch "dev/$device"; mount --bind "/dev/$device" "dev/$device"; fi
done
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
printf '%s' "$LAB_BINDS" | while IFS="$tab" read -r source target; do
  mkdir -p ".${target%/*}"; touch ".$target"; mount --bind "$source" ".$target"; mount -o remount,bind,ro ".$target"
done
printf '%s' "$LAB_DISKS" | while IFS="$tab" read -r source target; do
  mkdir -p ".$target"; mount -t ext4 -o loop "$source" ".$target"
done
if [ -n "${LAB_CGROUP:-}" ]; then mount -t cgroup2 cgroup2 sys/fs/cgroup; fi
pivot_root . mnt
cd /
umount -l /mnt
echo "lab: made"
read -r _   # what comes from outside, such as NICs, is there now
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 container=lab $LAB_INIT
