#!/bin/sh
# Duplicate address detection costs a second or two whenever an address moves, and there is no duplicate here.
if [ ! -e /etc/lab/dad ]; then
  for setting in /proc/sys/net/ipv6/conf/*/accept_dad; do echo 0 >"$setting"; done
fi
