//! What a person sees of the demo.

use std::io::{IsTerminal, Write};

use linesman_lab::{Node, Watch};

use crate::build::Fallible;

pub struct Show {
    colour: bool,
}

impl Show {
    pub fn new() -> Self {
        Self {
            colour: std::io::stdout().is_terminal()
                && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()),
        }
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }

    pub fn title(&self, text: &str) {
        self.print(&format!("\n{}", self.paint("1", &format!("== {text}"))));
    }

    pub fn say(&self, text: &str) {
        self.print(&self.paint("36", &format!("   {text}")));
    }

    pub fn prompt(&self, node: &Node, words: &[&str]) {
        let line = if words.first() == Some(&"sh") {
            words.last().copied().unwrap_or_default().to_string()
        } else {
            words.join(" ")
        };
        self.prompt_at(&format!("{}#", node.name()), &line);
    }

    /// A command at another prompt.
    pub fn prompt_at(&self, prompt: &str, line: &str) {
        self.print(&self.paint("33", &format!("{prompt} {line}")));
    }

    pub fn print(&self, text: &str) {
        writeln!(std::io::stdout(), "{}", text.trim_end()).ok();
    }

    /// Runs it on the node for everybody to see; another exit code than expected ends the demo.
    pub fn command(&self, node: &Node, words: &[&str], expected: i32) -> Fallible<()> {
        self.prompt(node, words);
        let status = node.command(words.iter().copied())?.interactive()?;
        if status.code() == Some(expected) {
            return Ok(());
        }
        Err(format!("`{}` ended with {status}, not with {expected}", words.join(" ")).into())
    }

    pub fn seen(&self, watch: Watch) {
        let record = watch.stop();
        let outage = record.longest_outage().as_secs_f64();
        let now = if record.reachable_at_end() { "reachable" } else { "NOT reachable" };
        self.say(&format!("Seen from outside: longest outage {outage:.1} s; now {now}."));
    }
}
