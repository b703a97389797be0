//! Keeps the network of a host as declared; a change that cuts it off undoes itself.

fn main() {}
