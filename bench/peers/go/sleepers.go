// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"sync"
	"time"
)

const (
	spread = 4 * time.Second
	stride = 7368787
)

// As bench/sleepers/sleepers.hpp.
func sleepers(s settings) ([]figure, bool) {
	figures := []figure{{unit: "us late, p50"}, {unit: "us late, p99"}, {unit: "us of CPU"}}
	ok := true
	for i := 0; i < s.runs; i++ {
		late := make([]float64, s.n)
		for toMake := 500 * time.Millisecond; ; toMake *= 2 {
			runtime.GC()
			used := processorSeconds()
			var all sync.WaitGroup
			all.Add(s.n)
			first := time.Now().Add(toMake)
			for k := 0; k < s.n; k++ {
				go func(k int) {
					share := float64(k*stride%s.n) / float64(s.n)
					due := first.Add(time.Duration(share * float64(spread)))
					time.Sleep(time.Until(due))
					late[k] = 1e6 * time.Since(due).Seconds()
					all.Done()
				}(k)
			}
			inTime := time.Now().Before(first)
			all.Wait()
			if !inTime && toMake < 100*time.Second {
				continue
			}
			figures[2].values = append(figures[2].values, 1e6*(processorSeconds()-used)/float64(s.n))
			figures[0].values = append(figures[0].values, quantile(late, 0.5))
			figures[1].values = append(figures[1].values, quantile(late, 0.99))
			ok = ok && inTime && late[0] >= 0
			break
		}
	}
	return figures, ok
}
