//! Decisions about the network of a host: documents, plans, verification. Pure.
