// SPDX-License-Identifier: Apache-2.0

// Goroutines as a peer: one program for all workloads, `peer WORKLOAD [--workers N] [--runs K] [--n SIZE] [--quick]`, with
// the same figures in the same JSON lines as the other benchmark programs. Of `echo` it is the server only: bench/peers/echo_clients.cpp.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
)

type settings struct {
	workers, runs int
	n             int
	quick         bool
}

// A quantity in each run. What the results say goes into `ok`.
type figure struct {
	unit   string
	values []float64
}

type workload struct {
	full, quick int
	run         func(s settings) (figures []figure, ok bool)
}

var workloads = map[string]workload{
	"fib":             {27, 20, fib},
	"yield":           {2000000, 100000, yield},
	"create-one":      {300000, 20000, createOne},
	"create-many":     {1000000, 50000, createMany},
	"blocked":         {1000000, 20000, blocked},
	"mutex":           {20000000, 500000, mutex},
	"mutex-contended": {4000000, 80000, mutexContended},
	"channel":         {5000000, 100000, channel},
	"quicksort":       {2000000, 200000, quicksort},
	"nqueens":         {13, 9, nqueens},
	"behind-busy":     {200, 20, behindBusy},
	"behind-blocked":  {100, 20, behindBlocked},
	"sleepers":        {1000000, 20000, sleepers},
	"socketpair":      {200000, 5000, socketpair},
	"echo":            {5000, 200, echo},
	"idle":            {2000, 200, idle},
	"wake":            {300, 30, wake},
}

func fail(complaint string) {
	fmt.Fprintln(os.Stderr, "peer: "+complaint)
	os.Exit(2)
}

func parse(words []string, w workload) settings {
	s := settings{workers: 1, runs: 5}
	for i := 0; i < len(words); i++ {
		if words[i] == "--quick" {
			s.quick = true
			continue
		}
		if i+1 == len(words) {
			fail("what about " + words[i] + "?")
		}
		value, err := strconv.Atoi(words[i+1])
		if err != nil || value < 1 {
			fail(words[i] + " needs a number of at least 1")
		}
		switch words[i] {
		case "--workers":
			s.workers = value
		case "--runs":
			s.runs = value
		case "--n":
			s.n = value
		default:
			fail("unknown option " + words[i])
		}
		i++
	}
	if s.n == 0 {
		s.n = w.full
		if s.quick {
			s.n = w.quick
		}
	}
	return s
}

func median(values []float64) float64 {
	sorted := append([]float64(nil), values...)
	sort.Float64s(sorted)
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

func print(bench string, s settings, f figure, ok bool) {
	low, high := f.values[0], f.values[0]
	for _, v := range f.values {
		low, high = min(low, v), max(high, v)
	}
	fmt.Printf("{\"bench\": %q, \"library\": \"go\", \"workers\": %d, \"places\": 1, \"n\": %d, \"value\": %.6g, "+
		"\"min\": %.6g, \"max\": %.6g, \"unit\": %q, \"runs\": %d, \"ok\": %t}\n",
		bench, s.workers, s.n, median(f.values), low, high, f.unit, len(f.values), ok)
}

func min(a, b float64) float64 {
	if a < b {
		return a
	}
	return b
}

func max(a, b float64) float64 {
	if a > b {
		return a
	}
	return b
}

func main() {
	if len(os.Args) < 2 {
		fail("which workload?")
	}
	w, known := workloads[os.Args[1]]
	if !known {
		fail("no workload " + os.Args[1])
	}
	s := parse(os.Args[2:], w)
	runtime.GOMAXPROCS(s.workers)
	figures, ok := w.run(s)
	for _, f := range figures {
		print(os.Args[1], s, f, ok)
	}
	if !ok {
		os.Exit(1)
	}
}
