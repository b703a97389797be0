#!/bin/sh
# run-all FOLDER: every program in it, in order, whatever becomes of each; their output is in /var/log/lab-boot.log.
exec >>/var/log/lab-boot.log 2>&1
for step in "$1"/*; do
  [ -x "$step" ] || continue
  echo "$(date +%T) $step"
  "$step" </dev/null
  echo "$(date +%T) $step ended with $?"
done
exit 0
