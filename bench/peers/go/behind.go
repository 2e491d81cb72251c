// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"sort"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func quantile(values []float64, share float64) float64 {
	sort.Float64s(values)
	return values[int(share*float64(len(values)-1))]
}

// As bench/behind-busy/behind_busy.hpp, but for the event, which is a timer's: a goroutine that
// sent something would have a processor already, and hand it on to the one that waits.
func behindBusy(s settings) ([]figure, bool) {
	figures := []figure{{unit: "us, p50"}, {unit: "us, p99"}, {unit: "us, longest"}}
	for i := 0; i < s.runs; i++ {
		var done atomic.Bool
		var busy sync.WaitGroup
		for w := 0; w < s.workers; w++ {
			busy.Add(1)
			go func() {
				for !done.Load() {
					for end := time.Now().Add(50 * time.Millisecond); time.Now().Before(end); {
					}
					runtime.Gosched()
				}
				busy.Done()
			}()
		}
		var samples []float64
		for k := 0; k < s.n; k++ {
			took := make(chan float64)
			due := time.Now().Add(17300 * time.Microsecond)
			go func() {
				time.Sleep(time.Until(due))
				took <- 1e6 * time.Since(due).Seconds()
			}()
			samples = append(samples, <-took)
		}
		done.Store(true)
		busy.Wait()
		for f, share := range []float64{0.5, 0.99, 1} {
			figures[f].values = append(figures[f].values, quantile(samples, share))
		}
	}
	return figures, true
}

// As bench/behind-blocked/behind_blocked.hpp; the calls go past Go's own poller.
func behindBlocked(s settings) ([]figure, bool) {
	figures := []figure{{unit: "us, first"}, {unit: "us, median"}, {unit: "us, longest"}}
	var ends [2]int
	if syscall.Pipe(ends[:]) != nil {
		return figures, false
	}
	ok := true
	for i := 0; i < s.runs; i++ {
		var samples []float64
		for k := 0; k < s.n; k++ {
			var reading, got atomic.Int32
			var readers sync.WaitGroup
			for w := 0; w < s.workers; w++ {
				readers.Add(1)
				go func() {
					reading.Add(1)
					if n, _ := syscall.Read(ends[0], make([]byte, 1)); n == 1 {
						got.Add(1)
					}
					readers.Done()
				}()
			}
			for int(reading.Load()) < s.workers {
				runtime.Gosched()
			}
			took := make(chan float64)
			at := time.Now()
			go func() {
				late := 1e6 * time.Since(at).Seconds()
				syscall.Write(ends[1], make([]byte, s.workers))
				took <- late
			}()
			samples = append(samples, <-took)
			readers.Wait()
			ok = ok && int(got.Load()) == s.workers
		}
		first := samples[0]
		figures[0].values = append(figures[0].values, first)
		figures[1].values = append(figures[1].values, median(samples))
		figures[2].values = append(figures[2].values, quantile(samples, 1))
		time.Sleep(3 * time.Second)
	}
	return figures, ok
}
