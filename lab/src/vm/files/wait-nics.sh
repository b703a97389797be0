# wait-nics COUNT: until NetworkManager has taken charge of them all. By busctl: emulated, nmcli takes a second each time.
manager=org.freedesktop.NetworkManager
state() {
  device=$(busctl call $manager /org/freedesktop/NetworkManager $manager GetDeviceByIpIface s "$1" 2>/dev/null) || return 1
  device=${device#*\"}
  state=$(busctl get-property $manager "${device%\"}" $manager.Device State 2>/dev/null) || return 1
  # 10 is unmanaged, 20 has no carrier.
  [ "${state#u }" -ge 20 ]
}
nic=0
for i in $(seq 1200); do
  while [ $nic -lt "$1" ] && state "eth$nic"; do nic=$((nic + 1)); done
  [ $nic -lt "$1" ] || exit 0
  sleep 0.05
done
echo "NetworkManager does not manage eth$nic" >&2
exit 1
