//! Reasons of conditions and events. Those of kubernetes-nmstate keep their meaning; additions of Linesman's say so.

use crate::words::words;

words! {
    PolicyReason {
        SuccessfullyConfigured,
        FailedToConfigure,
        ConfigurationProgressing,
        NoMatchingNode,
        /// Addition: `rollout.paused` is set.
        RolloutPaused,
        /// Addition: the policy conflicts with another one; no node was changed.
        PoliciesConflict,
        /// Addition: two entries of `hosts` match the same node, which is not changed.
        HostsOverlap,
        /// Addition: the document is refused wherever it is applied; no node was changed.
        DocumentRefused,
        /// Addition: a Secret that the document refers to does not exist or cannot be read; the nodes that need it wait.
        SecretUnavailable,
        /// Addition: the nodes have the previous version, as `rollout.undo` asks for, or have none.
        RolloutUndone,
        /// Addition: the operator cannot read the policy; nothing is changed for it.
        PolicyUnreadable,
        /// Addition: the API server refused what the operator writes for the policy; it is tried again.
        WriteRefused,
    }
}

words! {
    EnactmentReason {
        SuccessfullyConfigured,
        FailedToConfigure,
        ConfigurationProgressing,
        ConfigurationAborted,
        Retrying,
        MaxUnavailableLimitReached,
        /// Addition: waits for a node, a policy or a person; the message says for what.
        Blocked,
        /// Addition: is released, but its node is busy with another policy.
        Queued,
        /// Addition: the policy conflicts with another one on this node.
        PoliciesConflict,
        /// Addition: the document is refused wherever it is applied.
        DocumentRefused,
        /// Addition: a Secret that the document refers to does not exist or cannot be read.
        SecretUnavailable,
        /// Addition: the host differs from what was applied.
        HostDrifted,
        /// Addition: what the policy changed was reverted.
        Reverted,
    }
}

words! {
    /// Why an agent asks to be released again.
    ReleaseRequest {
        /// The host has drifted, and the policy says `drift: Correct`.
        Drifted,
        /// The policy is applied, but the agent has lost its record of it.
        RecordLost,
        /// The policy was refused because of another one that no longer conflicts.
        ConflictEnded,
    }
}

words! {
    NodeStateReason { SuccessfullyConfigured, FailedToConfigure }
}

words! {
    /// Of the conditions of NodeOpenVSwitch, and of OpenVSwitchReady on a Node.
    OpenVSwitchReason {
        AsExpected,
        /// The host has no units of Open vSwitch.
        NotInstalled,
        /// systemd does not answer.
        SystemdUnreachable,
        /// A unit is missing, masked, not enabled, or its file cannot be read.
        UnitUnusable,
        /// A daemon belongs to no unit of the host: an Open vSwitch in a container.
        Containerised,
        /// A unit is not running.
        UnitNotRunning,
        /// A unit ends again and again.
        CrashLooping,
        /// ovsdb-server does not answer.
        DatabaseNotAnswering,
        /// The file of the database is damaged; ovsdb-server refuses it.
        DatabaseCorrupt,
        /// ovs-vswitchd runs and does not answer.
        VswitchdNotAnswering,
        /// ovs-vswitchd does not follow the database.
        ConfigurationLagging,
        /// A unit is starting.
        Starting,
        /// Settings are being applied, or wait for a daemon.
        SettingsApplying,
        /// A setting needs a restart of ovs-vswitchd.
        RestartNeeded,
        SettingsRefused,
        InterfaceErrors,
        /// The daemons, or the daemon and the kernel, do not fit together.
        VersionSkew,
    }
}

words! {
    /// Why a setting of Open vSwitch is not applied.
    SettingReason {
        /// The document cannot be read.
        Unreadable,
        UnknownKey,
        InvalidValue,
        /// Two documents say different things.
        Contradiction,
        /// Another program writes the key on this host.
        OwnedByAnother,
        /// Somebody changes it again whenever it is written.
        Contested,
        /// Open vSwitch or systemd refuses it.
        NotAccepted,
    }
}

words! {
    /// Of events on a NodeOpenVSwitch.
    OpenVSwitchEvent { UnitRestarted, UnitCrashed, SettingsApplied, SettingRefused, VswitchdRestarted }
}

words! {
    NMStateReason { SuccessfullyDeployed, Deploying, InternalError, TLSProfileNotFullyHonored }
}

words! {
    /// Of events on a policy.
    EventReason {
        /// As in kubernetes-nmstate: nodes failed, or the rest was aborted.
        ReconcileFailed,
        /// The others are additions.
        PoliciesConflict,
        RolloutStarted,
        RolloutPaused,
        RolloutFinished,
        NoMatchingNode,
        /// The operator cannot read the policy, or what a node wrote.
        Unreadable,
        WriteRefused,
    }
}
