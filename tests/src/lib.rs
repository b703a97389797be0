//! Whole-system tests on the lab: one file per story.
