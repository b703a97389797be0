//! The test bed: real nodes in namespaces, watched from a hub outside. Never shipped.
