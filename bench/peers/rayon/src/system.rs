// SPDX-License-Identifier: Apache-2.0
//! What the operating system says of this process.

use std::fs;
use std::mem;
use std::time::Instant;

pub fn seconds_of<F: FnOnce()>(f: F) -> f64 {
    let start = Instant::now();
    f();
    start.elapsed().as_secs_f64()
}

/// Figures for one worker are taken on one CPU, the highest that the process may use.
pub fn pin_to_one_cpu() {
    unsafe {
        let mut allowed: libc::cpu_set_t = mem::zeroed();
        if libc::sched_getaffinity(0, mem::size_of_val(&allowed), &mut allowed) != 0 {
            return;
        }
        if let Some(cpu) = (0..libc::CPU_SETSIZE as usize)
            .rev()
            .find(|&cpu| libc::CPU_ISSET(cpu, &allowed))
        {
            let mut one: libc::cpu_set_t = mem::zeroed();
            libc::CPU_SET(cpu, &mut one);
            libc::sched_setaffinity(0, mem::size_of_val(&one), &one);
        }
    }
}

/// Bytes of a line "Key:  123 kB" in a file of /proc.
fn proc_bytes(path: &str, key: &str) -> f64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    let line = text
        .lines()
        .find(|line| line.starts_with(key))
        .unwrap_or("");
    let kib = line
        .split_whitespace()
        .nth(1)
        .and_then(|word| word.parse::<f64>().ok());
    1024.0 * kib.unwrap_or(0.0)
}

pub fn resident() -> f64 {
    proc_bytes("/proc/self/smaps_rollup", "Rss:")
}

pub fn peak_resident() -> f64 {
    proc_bytes("/proc/self/status", "VmHWM:")
}

pub fn processor_seconds() -> f64 {
    let mut usage: libc::rusage = unsafe { mem::zeroed() };
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
    let of = |t: libc::timeval| t.tv_sec as f64 + 1e-6 * t.tv_usec as f64;
    of(usage.ru_utime) + of(usage.ru_stime)
}
