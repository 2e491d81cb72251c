// SPDX-License-Identifier: Apache-2.0
use crate::system::{peak_resident, processor_seconds, resident, seconds_of};
use crate::{median, Figure, Outcome, Settings};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Runs f on a worker, as a part of the pool.
pub fn inside<R: Send, F: FnOnce() -> R + Send>(f: F) -> R {
    let mut result = None;
    rayon::scope(|_| result = Some(f()));
    result.expect("a scope runs its body")
}

pub fn create_one(s: Settings) -> Outcome {
    let mut cost = Figure::new("ns");
    let mut ok = true;
    for _ in 0..s.runs {
        let mut ran = 0;
        let time = inside(|| {
            seconds_of(|| {
                for _ in 0..s.n {
                    rayon::scope(|scope| scope.spawn(|_| ran = black_box(ran + 1)));
                }
            })
        });
        cost.add(1e9 * time / s.n as f64);
        ok = ok && ran == s.n;
    }
    (vec![cost], ok)
}

/// A memory figure needs a process of its own: one run is made.
pub fn create_many(s: Settings) -> Outcome {
    let (mut cost, mut memory) = (Figure::new("ns"), Figure::new("bytes"));
    let ran = AtomicUsize::new(0);
    let (before, time) = inside(|| {
        let before = resident();
        let time = seconds_of(|| {
            rayon::scope(|scope| {
                for _ in 0..s.n {
                    scope.spawn(|_| {
                        ran.fetch_add(1, Ordering::Relaxed);
                    });
                }
            })
        });
        (before, time)
    });
    cost.add(1e9 * time / s.n as f64);
    memory.add((peak_resident() - before).max(0.0) / s.n as f64);
    (vec![cost, memory], ran.into_inner() == s.n)
}

pub fn idle(s: Settings) -> Outcome {
    let mut load = Figure::new("% CPU");
    for _ in 0..s.runs {
        inside(|| black_box(0));
        sleep(Duration::from_millis(20));
        let used = processor_seconds();
        let elapsed = seconds_of(|| sleep(Duration::from_millis(s.n as u64)));
        load.add(100.0 * (processor_seconds() - used) / elapsed);
    }
    (vec![load], true)
}

pub fn wake(s: Settings) -> Outcome {
    let mut cost = Figure::new("us");
    for _ in 0..s.runs {
        let mut samples = Vec::new();
        for _ in 0..s.n {
            sleep(Duration::from_millis(2));
            let (ran, when) = mpsc::sync_channel(1);
            let posted = Instant::now();
            rayon::spawn(move || {
                let _ = ran.send(posted.elapsed());
            });
            sleep(Duration::from_micros(200));
            samples.push(1e6 * when.recv().map_or(f64::NAN, |d| d.as_secs_f64()));
        }
        cost.add(median(&samples));
    }
    (vec![cost], true)
}
