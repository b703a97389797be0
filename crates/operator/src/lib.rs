//! The cluster side: rollouts of policies through nodes.
