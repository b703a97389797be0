//! The codes of failed changes.

codes! {
    HINDERED = "LM2001", "the host cannot be changed now",
        "Before the change started, a prerequisite was missing: NetworkManager does not answer or is too old, Open \
         vSwitch is not running or hangs, D-Bus is not available, or a directory is not writable. The message says \
         which. No changes were made. An agent retries automatically with increasing delays. Run `linesman doctor` \
         on the host to check all prerequisites.";
    NOT_HELD = "LM2002", "the host did not reach the desired state",
        "The change was applied without errors, but the host did not reach the desired state in time, so the change \
         was rolled back. The message names the first difference; `linesman history` on the host lists all of them. \
         Common causes: a NIC without carrier, a driver that rounds or rejects a value, a DHCP server that does not \
         answer, or another program that sets the same property. The policy is not retried until it is edited or \
         someone runs `linesman retry`.";
    PROBE_FAILED = "LM2003", "a probe fails after the change",
        "The host reached the desired state, but a probe that passed before the change failed after it: the \
         gateway, DNS, the API server, or a probe of the policy. The change was rolled back when its patience ran \
         out. If the change is correct but the network is slow to recover (spanning tree, LACP, DHCP), increase \
         'patience'. A probe that already failed before the change does not cause a rollback.";
    NOT_APPLIED = "LM2004", "NetworkManager or nmstate could not apply the change",
        "NetworkManager or nmstate failed while applying the change, so it was rolled back. The message is theirs; \
         their log on the host has details (journalctl -u NetworkManager).";
    TOO_LONG = "LM2005", "the change timed out",
        "Applying the change exceeded the time limit (120 s), so it was stopped and rolled back. Either something \
         on the host hangs, or the document is very large. Split the document, or check what NetworkManager is \
         waiting for.";
    INTERRUPTED = "LM2006", "the change was interrupted",
        "linesman was stopped or killed, or the host lost power, before the change was committed. The change was \
         rolled back, by NetworkManager's timer or at the next start. The document is not the cause: retry it.";
    NOT_BACK = "LM2007", "the rollback is incomplete",
        "The change was rolled back, but something differs from the state before the change; the message lists \
         what. Check this host. `linesman history` shows the change, `linesman recover` tries to complete the \
         rollback, and `linesman gather` collects diagnostics for support.";
    CHECKPOINT_LOST = "LM2008", "NetworkManager lost the checkpoint",
        "NetworkManager was restarted during the change, or was so busy that its rollback timer expired. The change \
         was rolled back. Find out why NetworkManager was restarted (journalctl -u NetworkManager), then retry.";
    NOT_CONFIRMED = "LM2009", "the change was not confirmed",
        "The change was applied with --try or --no-commit and was rolled back, because nobody ran `linesman commit` \
         in time, or because somebody ran `linesman rollback`.";
    NOT_LASTING = "LM2010", "the change would not survive a reboot",
        "The host is in the desired state, but the profiles on disk would not restore it at the next boot: a \
         profile is missing, is not activated automatically, or another profile has precedence. The change was \
         rolled back. The message names the interface.";
    NOT_WRITTEN = "LM2011", "the snapshot or the journal cannot be written",
        "A change starts only after the snapshot is on disk, and it could not be written. Check the free space and \
         the permissions of the directory that the message names (default: /var/lib/linesman).";
    BUSY = "LM2012", "another change is in progress",
        "Another linesman process, a change that is pending confirmation, or another program with a NetworkManager \
         checkpoint is changing this host. An agent retries automatically. `linesman history` shows a pending \
         change.";
    REFUSED = "LM2013", "nmstate rejects the state",
        "nmstate rejected the document on this host. No changes were made. The message is from nmstate. Correct the \
         document.";
    OLD_INSTRUCTION = "LM2014", "outdated release",
        "The cluster asks this node for an older version of the policy than the last one that it accepted, probably \
         because the API server was restored from a backup. No changes were made. Edit the spec of the policy to \
         roll it out again.";
    NO_SNAPSHOT = "LM2015", "no record of what the policy changed",
        "The policy is to be reverted on this node, but the node has no record of the state before it: its disk was \
         replaced, or another program applied the policy. No changes were made. Declare the state that you want in \
         another policy.";
    NO_SECRET = "LM2016", "a Secret cannot be read",
        "A secretKeyRef names a Secret or a key that does not exist or that the agent is not allowed to read. \
         Secrets are read only from the agents' namespace (default: nmstate). No changes were made. The agent \
         retries automatically with increasing delays, so it is enough to create the Secret.";
}

/// An example message for each code. A test finds each of them in a golden case of `fleet/cases/report`.
pub const EXAMPLE_MESSAGES: &[(&str, &str)] = &[
    (
        HINDERED,
        "[LM2001] NetworkManager does not answer on D-Bus; start NetworkManager.service; no changes made",
    ),
    (
        NOT_HELD,
        "[LM2002] verify: desiredState.interfaces[br1].mtu: wanted 9000, found 1500; 2 more; rolled back",
    ),
    (PROBE_FAILED, "[LM2003] probe: gateway v4 failed: no answer from 192.0.2.254; rolled back"),
    (NOT_APPLIED, "[LM2004] apply: the first line says it; rolled back"),
    (TOO_LONG, "[LM2005] apply: not done within 120 s; rolled back"),
    (INTERRUPTED, "[LM2006] interrupted: interrupted during the change; rolled back"),
    (
        NOT_BACK,
        "[LM2007] apply: NetworkManager died; the rollback is incomplete: profile br1, address 192.0.2.7/24 on eth0",
    ),
    (
        CHECKPOINT_LOST,
        "[LM2008] checkpoint: NetworkManager lost the checkpoint during the change (it was restarted, or its timer ran out); rolled back",
    ),
    (NOT_CONFIRMED, "[LM2009] confirm: not confirmed within 120 s; rolled back"),
    (NOT_LASTING, "[LM2010] persist: eth1: no profile on disk would activate it; rolled back"),
    (
        NOT_WRITTEN,
        "[LM2011] journal: cannot write the journal under /var/lib/linesman: No space left on device; no changes made",
    ),
    (BUSY, "[LM2012] another linesman (pid 12) is changing this host; no changes made"),
    (
        REFUSED,
        "[LM2013] the state cannot be applied: InvalidArgument: bond0 has no port; no changes made; correct the policy",
    ),
    (
        OLD_INSTRUCTION,
        "[LM2014] this release is older than the last one that the node accepted, as after a restored backup; edit the policy to roll it out again; no changes made",
    ),
    (
        NO_SNAPSHOT,
        "[LM2015] this node has no record of what the policy changed; declare the state that you want in another policy; no changes made",
    ),
    (
        NO_SECRET,
        "[LM2016] there is no Secret nmstate/eap, needed at desiredState.interfaces[eth1].802.1x.private-key-password; no changes made",
    ),
];

pub fn example_message(code: &str) -> Option<&'static str> {
    EXAMPLE_MESSAGES.iter().find(|(known, _)| *known == code).map(|(_, line)| *line)
}
