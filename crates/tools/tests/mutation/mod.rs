//! Seeded alterations of a corpus: the same seed gives the same alterations.

/// Words that mean something to one of the readers.
const WORDS: &[&str] = &[
    "interfaces:",
    "network:",
    "- ",
    "  ",
    "\n",
    ": ",
    "{",
    "}",
    "[",
    "]",
    "&a ",
    "*a",
    "<<: *a",
    "!!str ",
    "|\n",
    ">\n",
    "\"",
    "'",
    "#",
    "%",
    "---\n",
    "...\n",
    "\t",
    "\r\n",
    "\0",
    "\u{feff}",
    "\u{2028}",
    "null",
    "true",
    "-1",
    "4294967296",
    "18446744073709551616",
    "1e999",
    "0x",
    "eth0",
    "10.0.0.1/24",
    "10.0.0.1/33",
    "::/0",
    "/",
    "name: ",
    "type: ",
    "state: absent",
    "[connection]\n",
    "type=",
    "type=bond\n",
    "controller=",
    "method=",
    "address1=",
    "route1=",
    "routing-rule1=",
    "=",
    ";",
    ",",
    "ethernets:",
    "bonds:",
    "bridges:",
    "vlans:",
    "vrfs:",
    "match:",
    "set-name:",
    "routes:",
    "addresses:",
    "parameters:",
    "interfaces: [a]",
    "openvswitch: {}",
    "mode: vxlan",
];

pub struct Mutator {
    state: u64,
}

impl Mutator {
    pub fn new(seed: u64) -> Self {
        Self { state: seed | 1 }
    }

    /// xorshift64*
    fn next(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, bound: usize) -> usize {
        if bound == 0 { 0 } else { (self.next() % bound as u64) as usize }
    }

    pub fn mutate(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut input = corpus[self.below(corpus.len())].clone();
        for _ in 0..=self.below(6) {
            self.step(&mut input, corpus);
        }
        input.truncate(64 * 1024);
        input
    }

    fn step(&mut self, input: &mut Vec<u8>, corpus: &[Vec<u8>]) {
        let at = self.below(input.len() + 1);
        let end = (at + self.below(24)).min(input.len());
        match self.below(9) {
            0 if at < input.len() => input[at] ^= 1 << self.below(8),
            1 if at < input.len() => input[at] = self.next() as u8,
            2 => drop(input.drain(at..end)),
            3 => self.line(input, |lines, at| drop(lines.remove(at))),
            4 => self.line(input, |lines, at| lines.insert(at, lines[at].clone())),
            5 => {
                let other = &corpus[self.below(corpus.len())];
                let from = self.below(other.len());
                let to = (from + self.below(200)).min(other.len());
                input.splice(at..at, other[from..to].iter().copied());
            }
            6 => {
                let piece = input[at..end].repeat(self.below(40));
                input.splice(at..at, piece);
            }
            7 => {
                let other = self.below(input.len() + 1);
                self.line(input, |lines, at| {
                    let to = other % lines.len();
                    lines.swap(at, to);
                });
            }
            _ => {
                let word = WORDS[self.below(WORDS.len())];
                input.splice(at..at, word.bytes());
            }
        }
    }

    fn line(&mut self, input: &mut Vec<u8>, change: impl FnOnce(&mut Vec<Vec<u8>>, usize)) {
        let mut lines: Vec<Vec<u8>> =
            input.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        if !lines.is_empty() {
            let at = self.below(lines.len());
            change(&mut lines, at);
            *input = lines.concat();
        }
    }
}
