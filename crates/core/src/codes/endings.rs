//! Every way in which a change can end badly.

codes! {
    HINDERED = "LM2001", "the host cannot be changed now",
        "Before anything was touched, it turned out that the host lacks something that every change needs: \
         NetworkManager does not answer or is too old, Open vSwitch does not run or hangs, D-Bus is away, or a directory \
         cannot be written. The message says which. An agent tries again by itself, with growing pauses; `linesman \
         doctor` on the host looks at all of this at once.";
    NOT_HELD = "LM2002", "the state does not hold after the change",
        "Everything was applied without complaint, but not everything that was declared was there in time. The message \
         names the first place, what was wanted and what was found; `linesman history` on the host lists all. The change \
         was taken back. Often a NIC has no carrier, a driver rounds or refuses a value, DHCP does not answer, or another \
         program sets the same thing. It is not tried again before the policy is edited or somebody says `linesman retry`.";
    PROBE_FAILED = "LM2003", "a probe that passed before fails after the change",
        "The state held, but the host could no longer reach what it reached before: its gateway, DNS, the API server or \
         what the policy's own probes name. So it was taken back when the patience ran out. If the change is right and \
         only slow (spanning tree, LACP, DHCP), give it more 'patience'. A probe that failed before the change \
         already is not held against it.";
    NOT_APPLIED = "LM2004", "NetworkManager or nmstate could not make the change",
        "The change was begun, and NetworkManager or nmstate gave up in the middle of it. The message is theirs; their log \
         on the host tells more (journalctl -u NetworkManager). What had been made was taken back.";
    TOO_LONG = "LM2005", "the change took too long",
        "Making the change was not done within its limit (120 s), so it was stopped and taken back. Something on the host \
         hangs, or the document is very large: split it, or look at what NetworkManager waits for.";
    INTERRUPTED = "LM2006", "interrupted before it was committed",
        "Whoever made the change was stopped, killed or lost its power before the commit. What had been made was taken \
         back: by NetworkManager's own timer, or at the next start. Nothing is wrong with the document: let it be tried again.";
    NOT_BACK = "LM2007", "not everything is as before",
        "A change had to be taken back, and afterwards something was still not as before; the message lists what. This \
         host needs a person. `linesman history` shows the change, `linesman recover` tries to finish going back, and \
         `linesman gather` collects what support needs.";
    CHECKPOINT_LOST = "LM2008", "NetworkManager let go of the change",
        "NetworkManager was restarted in mid-change, or was so busy that its own timer ran out, and went back by itself. \
         The rest was brought back by Linesman. Find out why it restarted (journalctl -u NetworkManager), then try again.";
    NOT_CONFIRMED = "LM2009", "not confirmed",
        "The change was tried (--try, --no-commit) and waited for a word. Nobody said `linesman commit` in time, or \
         somebody said `linesman rollback`, so it went back.";
    NOT_LASTING = "LM2010", "the change would not outlive a reboot",
        "The state holds now, but what is written on disk would not bring it up again: a profile was not written, is not \
         activated by itself, or another profile would win. Rather than leave that to be found at the next boot, the \
         change was taken back. The message names the interface.";
    NOT_WRITTEN = "LM2011", "the way back cannot be written down",
        "Nothing is changed unless the way back is on disk first, and that could not be written. Look at the space and \
         the rights of the directory that the message names (by default /var/lib/linesman).";
    BUSY = "LM2012", "something else is changing this host",
        "Another linesman, a change that waits for its confirmation, or another program with a NetworkManager checkpoint is \
         at it. Two at once could not be told apart when one of them has to go back. It is tried again by itself; \
         `linesman history` shows a change that waits.";
    REFUSED = "LM2013", "nmstate refuses the state",
        "nmstate itself does not take the document on this host, and said so before anything was touched. The message is \
         nmstate's; only another document helps.";
    OLD_INSTRUCTION = "LM2014", "an instruction from before",
        "The cluster asks for something older than what this node took last: its API server was restored from a backup. \
         Nothing is applied for that, since nobody may have wanted to go back. Edit the policy (any change of its spec) to \
         roll it out again.";
    NO_WAY_BACK = "LM2015", "this node does not remember what the policy changed",
        "A policy is to be reverted here, but what was there before it is not written down on this node: its disk was \
         replaced, or another program applied the policy. Nothing was touched. Say in a policy of its own what should be there.";
    NO_SECRET = "LM2016", "a Secret that the policy points to cannot be read",
        "A secretKeyRef names a Secret, or a key in it, that is not there, or that the agent may not read. Secrets are \
         looked up in the agents' own namespace only (by default nmstate). Nothing was touched; it is tried again by \
         itself, with growing pauses, so making the Secret is enough.";
}

/// The code of a change that was given up or taken back at this step of the transaction.
pub fn of_step(step: &str) -> &'static str {
    match step {
        "verify" => NOT_HELD,
        "probe" => PROBE_FAILED,
        "checkpoint" => CHECKPOINT_LOST,
        "confirm" => NOT_CONFIRMED,
        "persist" => NOT_LASTING,
        "journal" => NOT_WRITTEN,
        "interrupted" => INTERRUPTED,
        _ => NOT_APPLIED,
    }
}

/// To every code how it is told in a cluster. A test finds each in a golden case of `cases/report`.
pub const TOLD: &[(&str, &str)] = &[
    (
        HINDERED,
        "[LM2001] NetworkManager does not answer on D-Bus; start NetworkManager.service; nothing was touched",
    ),
    (
        NOT_HELD,
        "[LM2002] verify: desiredState.interfaces[br1].mtu: wanted 9000, found 1500; 2 more; the node is as before",
    ),
    (PROBE_FAILED, "[LM2003] probe: gateway v4 failed: no answer from 192.0.2.254; the node is as before"),
    (NOT_APPLIED, "[LM2004] apply: the first line says it; the node is as before"),
    (TOO_LONG, "[LM2005] apply: not done within 120 s; the node is as before"),
    (INTERRUPTED, "[LM2006] interrupted: interrupted in mid-change; the node is as before"),
    (
        NOT_BACK,
        "[LM2007] restore: NetworkManager died; the node is not as before: profile br1, address 192.0.2.7/24 on eth0",
    ),
    (
        CHECKPOINT_LOST,
        "[LM2008] checkpoint: NetworkManager lost the checkpoint in mid-change (it was restarted, or its timer ran out); the node is as before",
    ),
    (NOT_CONFIRMED, "[LM2009] confirm: not confirmed within 120 s; the node is as before"),
    (NOT_LASTING, "[LM2010] persist: eth1: no profile on disk would activate it; the node is as before"),
    (
        NOT_WRITTEN,
        "[LM2011] journal: cannot write the journal under /var/lib/linesman: No space left on device; nothing was touched",
    ),
    (BUSY, "[LM2012] load: another linesman (pid 12) is changing this host; nothing was touched"),
    (
        REFUSED,
        "[LM2013] the state cannot be applied: InvalidArgument: bond0 has no port; nothing was touched; correct the policy",
    ),
    (
        OLD_INSTRUCTION,
        "[LM2014] this instruction is older than what the node took last, as after a restored backup; edit the policy to roll it out again; nothing was touched",
    ),
    (
        NO_WAY_BACK,
        "[LM2015] this node does not remember what the policy changed: undo it by a policy of its own; nothing was touched",
    ),
    (
        NO_SECRET,
        "[LM2016] there is no Secret nmstate/eap, needed at desiredState.interfaces[eth1].802.1x.private-key-password; nothing was touched",
    ),
];

pub fn told(code: &str) -> Option<&'static str> {
    TOLD.iter().find(|(known, _)| *known == code).map(|(_, line)| *line)
}
