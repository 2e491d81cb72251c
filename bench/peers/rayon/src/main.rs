// SPDX-License-Identifier: Apache-2.0
//! Rayon as a peer: one program for all workloads, `peer WORKLOAD [--workers N] [--runs K] [--n SIZE] [--quick]`, with the
//! same figures in the same JSON lines as the other benchmark programs.

mod kernels;
mod system;
mod threads;

use std::process::exit;

#[derive(Clone, Copy)]
pub struct Settings {
    pub workers: usize,
    pub runs: usize,
    pub n: usize,
}

/// A quantity in each run.
pub struct Figure {
    unit: &'static str,
    values: Vec<f64>,
}

impl Figure {
    pub fn new(unit: &'static str) -> Self {
        Figure {
            unit,
            values: Vec::new(),
        }
    }
    pub fn add(&mut self, value: f64) {
        self.values.push(value);
    }
}

/// The figures, and whether every result was right.
pub type Outcome = (Vec<Figure>, bool);

struct Workload {
    name: &'static str,
    full: usize,
    quick: usize,
    run: fn(Settings) -> Outcome,
}

const WORKLOADS: &[Workload] = &[
    Workload {
        name: "fib",
        full: 35,
        quick: 27,
        run: kernels::fib,
    },
    Workload {
        name: "create-one",
        full: 1_000_000,
        quick: 50_000,
        run: threads::create_one,
    },
    Workload {
        name: "create-many",
        full: 1_000_000,
        quick: 50_000,
        run: threads::create_many,
    },
    Workload {
        name: "quicksort",
        full: 2_000_000,
        quick: 200_000,
        run: kernels::quicksort,
    },
    Workload {
        name: "nqueens",
        full: 13,
        quick: 9,
        run: kernels::nqueens,
    },
    Workload {
        name: "idle",
        full: 2000,
        quick: 200,
        run: threads::idle,
    },
    Workload {
        name: "wake",
        full: 300,
        quick: 30,
        run: threads::wake,
    },
];

fn fail(complaint: &str) -> ! {
    eprintln!("peer: {complaint}");
    exit(2)
}

fn parse(words: &[String], workload: &Workload) -> Settings {
    let mut settings = Settings {
        workers: 1,
        runs: 5,
        n: 0,
    };
    let mut quick = false;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if word == "--quick" {
            quick = true;
            continue;
        }
        let value = match rest.next().and_then(|text| text.parse::<usize>().ok()) {
            Some(value) if value > 0 => value,
            _ => fail(&format!("{word} needs a number of at least 1")),
        };
        match word.as_str() {
            "--workers" => settings.workers = value,
            "--runs" => settings.runs = value,
            "--n" => settings.n = value,
            _ => fail(&format!("unknown option {word}")),
        }
    }
    if settings.n == 0 {
        settings.n = if quick { workload.quick } else { workload.full };
    }
    settings
}

pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[half]
    } else {
        (sorted[half - 1] + sorted[half]) / 2.0
    }
}

fn print(bench: &str, s: Settings, figure: &Figure, ok: bool) {
    let low = figure.values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = figure
        .values
        .iter()
        .copied()
        .fold(f64::NEG_INFINITY, f64::max);
    println!(
        "{{\"bench\": \"{bench}\", \"library\": \"rayon\", \"workers\": {}, \"places\": 1, \"n\": {}, \"value\": {:.9}, \
         \"min\": {low:.9}, \"max\": {high:.9}, \"unit\": \"{}\", \"runs\": {}, \"ok\": {ok}}}",
        s.workers,
        s.n,
        median(&figure.values),
        figure.unit,
        figure.values.len()
    );
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let name = words.get(1).map(String::as_str).unwrap_or("");
    let Some(workload) = WORKLOADS.iter().find(|w| w.name == name) else {
        fail(&format!("no workload '{name}'"))
    };
    let settings = parse(&words[2..], workload);
    if settings.workers == 1 {
        system::pin_to_one_cpu();
    }
    if let Err(error) = rayon::ThreadPoolBuilder::new()
        .num_threads(settings.workers)
        .build_global()
    {
        fail(&error.to_string());
    }
    let (figures, ok) = (workload.run)(settings);
    for figure in &figures {
        print(workload.name, settings, figure, ok);
    }
    exit(if ok { 0 } else { 1 });
}
