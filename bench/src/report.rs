//! The table, and the same as JSON for machines.

use std::path::Path;

use serde_json::{Value, json};

use crate::Fallible;

#[derive(Debug, Default)]
pub struct BenchReport {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    name: String,
    value: f64,
    unit: &'static str,
    baseline: Option<f64>,
    goal: f64,
}

impl Row {
    fn ratio(&self) -> Option<f64> {
        self.baseline.map(|b| self.value / b)
    }

    fn met(&self) -> bool {
        self.ratio().unwrap_or(self.value) <= self.goal
    }
}

impl BenchReport {
    /// A figure whose goal is a ratio to `baseline`, or without one an amount in `unit`.
    pub fn row(
        &mut self,
        name: impl Into<String>,
        value: f64,
        unit: &'static str,
        baseline: Option<f64>,
        goal: f64,
    ) {
        self.rows.push(Row { name: name.into(), value, unit, baseline, goal });
    }

    pub fn print(&self) {
        println!(
            "{:<52} {:>10} {:>10} {:>7} {:>9}  MET",
            "WHAT (medians)", "LINESMAN", "BASELINE", "RATIO", "GOAL"
        );
        for row in &self.rows {
            let amount = |v: f64| format!("{v:.2} {}", row.unit);
            let baseline = row.baseline.map_or_else(|| "-".to_string(), amount);
            let ratio = row.ratio().map_or_else(|| "-".to_string(), |r| format!("{r:.2}"));
            let goal = if row.baseline.is_some() { format!("{:.2}", row.goal) } else { amount(row.goal) };
            let met = if row.met() { "yes" } else { "NO" };
            println!("{:<52} {:>10} {baseline:>10} {ratio:>7} {goal:>9}  {met}", row.name, amount(row.value));
        }
    }

    pub fn write(&self, path: &Path) -> Fallible<()> {
        let rows: Vec<Value> = self
            .rows
            .iter()
            .map(|r| {
                json!({
                    "name": r.name, "value": r.value, "unit": r.unit, "baseline": r.baseline,
                    "ratio": r.ratio(), "goal": r.goal, "met": r.met(),
                })
            })
            .collect();
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir)?;
        }
        std::fs::write(path, serde_json::to_string_pretty(&rows)?)?;
        Ok(())
    }
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
