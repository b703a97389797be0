//! `linesman why`: which policy configures an interface.

use linesman_core::why::{Answer, Claim, why};
use linesman_engine::transaction::Settings;

use super::status::paint;
use crate::cli::{Format, WhyArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

pub async fn run(args: WhyArgs, format: Format, settings: &Settings) -> Exit {
    let ledger = match super::ledger(settings) {
        Ok(ledger) => ledger,
        Err(exit) => return exit,
    };
    let observed = match super::observed().await {
        Ok(observed) => observed,
        Err(exit) => return exit,
    };
    let answer = why(&args.interface, &ledger.applied(), &observed);
    if !answer.exists && answer.claims.is_empty() {
        let message = format!("there is no interface {} on this host or in its policies", answer.interface);
        return Failure::new(Exit::Failed, message).hint("`linesman show` lists the interfaces").report();
    }
    match format {
        Format::Text => print(&answer),
        other => output::data(other, &answer),
    }
    Exit::Done
}

fn print(answer: &Answer) {
    let there = if answer.exists { &answer.summary } else { "does not exist" };
    output::line(format!("{} {there}", answer.interface));
    let mut last = "";
    for claim in &answer.claims {
        if claim.policy != last {
            output::line(format!("  set by policy {}", paint(&claim.policy, "1")));
            last = &claim.policy;
        }
        output::line(format!("    {}", describe(claim)));
    }
    for user in &answer.users {
        output::line(format!("  used by {user}"));
    }
    if answer.claims.is_empty() && answer.users.is_empty() {
        output::line("  no policy names it: not managed by Linesman");
    }
}

fn describe(claim: &Claim) -> String {
    let value = |v: &serde_json::Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
    let wanted = format!("{}: {}", claim.path, value(&claim.wants));
    match &claim.found {
        None => wanted,
        Some(found) if found.is_null() => format!("{wanted}   {}", paint("but is missing", "33")),
        Some(found) => format!("{wanted}   {}", paint(&format!("but is {}", value(found)), "33")),
    }
}
