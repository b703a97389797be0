//! Ten thousand faults: any victim, at any boundary or moment, in the middle of any change. `make soak` runs
//! them all.

use std::time::Instant;

use linesman_tests::campaign::{Campaign, Fault};

use super::attempt;
use super::cell::{self, Change};

/// One bed for each change, all at a time: most of a cell is waiting.
#[test]
fn campaign() {
    let campaign = Campaign::open("stories", "faults::campaign", 10_000, 3);
    std::thread::scope(|scope| {
        for (part, change) in (0..).zip(Change::ALL) {
            let campaign = &campaign;
            scope.spawn(move || run(campaign, part, change));
        }
    });
    campaign.assert_clean();
}

fn run(campaign: &Campaign, part: u64, change: Change) {
    let mut bed = None;
    for number in campaign.numbers(part, Change::ALL.len() as u64) {
        let cell = cell::draw(change, &mut campaign.chance(number));
        let start = Instant::now();
        let result = attempt(&mut bed, &cell);
        if result.is_err() {
            bed = None;
        }
        println!("{cell}: {:.1} s", start.elapsed().as_secs_f64());
        let fault =
            Fault { name: cell.victim.to_string(), step: cell.step(), change: cell.change.to_string() };
        campaign.record(number, &fault, &result.map_err(|why| format!("{cell}: {why}")));
    }
}
