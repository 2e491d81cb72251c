// SPDX-License-Identifier: Apache-2.0
use crate::system::seconds_of;
use crate::threads::inside;
use crate::{Figure, Outcome, Settings};
use std::hint::black_box;

fn fib_serial(n: usize) -> usize {
    if n < 2 {
        n
    } else {
        fib_serial(n - 1) + fib_serial(n - 2)
    }
}

fn fib_join(n: usize) -> usize {
    if n < 2 {
        return n;
    }
    let (a, b) = rayon::join(|| fib_join(n - 1), || fib_join(n - 2));
    a + b
}

pub fn fib(s: Settings) -> Outcome {
    let (mut cost, mut elapsed) = (Figure::new("ns/spawn"), Figure::new("s"));
    let mut ok = true;
    for _ in 0..s.runs {
        let (mut expected, mut result) = (0, 0);
        let serial = seconds_of(|| expected = fib_serial(black_box(s.n)));
        let parallel = inside(|| seconds_of(|| result = fib_join(s.n)));
        let spawns = fib_serial(s.n + 1) - 1;
        cost.add(1e9 * (parallel - serial) / spawns as f64);
        elapsed.add(parallel);
        ok = ok && result == expected;
    }
    (vec![cost, elapsed], ok)
}

/// The splitmix64 sequence, as the other programs have it.
fn element(i: u64) -> f64 {
    let mut z = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

fn partition(data: &mut [f64]) -> usize {
    let (first, middle, last) = (data[0], data[data.len() / 2], data[data.len() - 1]);
    let pivot = first.min(middle).max(first.max(middle).min(last));
    let mut end = 0;
    for i in 0..data.len() {
        let x = data[i];
        data[i] = data[end];
        data[end] = x;
        end += usize::from(x < pivot);
    }
    end
}

fn sort_join(data: &mut [f64]) {
    let cut = if data.len() <= 1000 {
        0
    } else {
        partition(data)
    };
    if cut == 0 {
        return data.sort_unstable_by(f64::total_cmp);
    }
    let (low, high) = data.split_at_mut(cut);
    rayon::join(|| sort_join(low), || sort_join(high));
}

pub fn quicksort(s: Settings) -> Outcome {
    let mut elapsed = Figure::new("s");
    let mut ok = true;
    for _ in 0..s.runs {
        let mut data: Vec<f64> = (0..s.n as u64).map(element).collect();
        elapsed.add(inside(|| seconds_of(|| sort_join(&mut data))));
        ok = ok && data.windows(2).all(|pair| pair[0] <= pair[1]);
    }
    (vec![elapsed], ok)
}

#[derive(Clone, Copy)]
struct Board {
    all: u32,
    columns: u32,
    left: u32,
    right: u32,
    rows: usize,
}

impl Board {
    fn free(self) -> u32 {
        self.all & !(self.columns | self.left | self.right)
    }
    fn place(self, square: u32) -> Board {
        Board {
            all: self.all,
            columns: self.columns | square,
            left: (self.left | square) << 1,
            right: (self.right | square) >> 1,
            rows: self.rows - 1,
        }
    }
}

fn queens_serial(board: Board) -> u64 {
    if board.rows == 0 {
        return 1;
    }
    let (mut count, mut squares) = (0, board.free());
    while squares != 0 {
        count += queens_serial(board.place(squares & squares.wrapping_neg()));
        squares &= squares - 1;
    }
    count
}

/// The lowest of the squares beside all the others.
fn queens_row(board: Board, squares: u32) -> u64 {
    let first = squares & squares.wrapping_neg();
    let rest = squares ^ first;
    if rest == 0 {
        return queens_join(board.place(first));
    }
    let (a, b) = rayon::join(
        || queens_join(board.place(first)),
        || queens_row(board, rest),
    );
    a + b
}

fn queens_join(board: Board) -> u64 {
    if board.rows <= 4 {
        return queens_serial(board);
    }
    match board.free() {
        0 => 0,
        squares => queens_row(board, squares),
    }
}

pub fn nqueens(s: Settings) -> Outcome {
    let mut elapsed = Figure::new("s");
    let empty = Board {
        all: (1 << s.n) - 1,
        columns: 0,
        left: 0,
        right: 0,
        rows: s.n,
    };
    let expected = queens_serial(empty);
    let mut ok = true;
    for _ in 0..s.runs {
        let mut count = 0;
        elapsed.add(inside(|| seconds_of(|| count = queens_join(empty))));
        ok = ok && count == expected;
    }
    (vec![elapsed], ok)
}
