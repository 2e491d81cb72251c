// SPDX-License-Identifier: Apache-2.0

package main

import (
	"sort"
	"sync"
	"syscall"
	"time"
)

func fibSerial(n int) int {
	if n < 2 {
		return n
	}
	return fibSerial(n-1) + fibSerial(n-2)
}

func fibThreads(n int) int {
	if n < 2 {
		return n
	}
	child := make(chan int, 1)
	go func() { child <- fibThreads(n - 1) }()
	mine := fibThreads(n - 2)
	return <-child + mine
}

func fib(s settings) ([]figure, bool) {
	cost, elapsed := figure{unit: "ns/spawn"}, figure{unit: "s"}
	ok := true
	for i := 0; i < s.runs; i++ {
		var expected, result int
		serial := secondsOf(func() { expected = fibSerial(s.n) })
		parallel := secondsOf(func() { result = fibThreads(s.n) })
		spawns := fibSerial(s.n+1) - 1
		cost.values = append(cost.values, 1e9*(parallel-serial)/float64(spawns))
		elapsed.values = append(elapsed.values, parallel)
		ok = ok && result == expected
	}
	return []figure{cost, elapsed}, ok
}

// The splitmix64 sequence, as the other programs have it.
func element(i uint64) float64 {
	z := 1 + (i+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return float64((z^z>>31)>>11) / (1 << 53)
}

func partition(data []float64) int {
	first, middle, last := data[0], data[len(data)/2], data[len(data)-1]
	pivot := max(min(first, middle), min(max(first, middle), last))
	end := 0
	for i, x := range data {
		if x < pivot {
			data[i] = data[end]
			data[end] = x
			end++
		}
	}
	return end
}

func sortThreads(data []float64) {
	if len(data) <= 1000 {
		sort.Float64s(data)
		return
	}
	cut := partition(data)
	if cut == 0 {
		sort.Float64s(data)
		return
	}
	var low sync.WaitGroup
	low.Add(1)
	go func() {
		sortThreads(data[:cut])
		low.Done()
	}()
	sortThreads(data[cut:])
	low.Wait()
}

func quicksort(s settings) ([]figure, bool) {
	elapsed := figure{unit: "s"}
	data := make([]float64, s.n)
	ok := true
	for i := 0; i < s.runs; i++ {
		for k := range data {
			data[k] = element(uint64(k))
		}
		elapsed.values = append(elapsed.values, secondsOf(func() { sortThreads(data) }))
		ok = ok && sort.Float64sAreSorted(data)
	}
	return []figure{elapsed}, ok
}

type board struct {
	all, columns, left, right uint32
	rows                      int
}

func (b board) free() uint32 { return b.all &^ (b.columns | b.left | b.right) }

func (b board) place(square uint32) board {
	return board{b.all, b.columns | square, (b.left | square) << 1, (b.right | square) >> 1, b.rows - 1}
}

func queensSerial(b board) int {
	if b.rows == 0 {
		return 1
	}
	count := 0
	for squares := b.free(); squares != 0; squares &= squares - 1 {
		count += queensSerial(b.place(squares & -squares))
	}
	return count
}

// A goroutine per square, until four rows are left.
func queensThreads(b board) int {
	if b.rows <= 4 {
		return queensSerial(b)
	}
	counts := make(chan int, 32)
	started := 0
	for squares := b.free(); squares != 0; squares &= squares - 1 {
		next := b.place(squares & -squares)
		go func() { counts <- queensThreads(next) }()
		started++
	}
	sum := 0
	for ; started > 0; started-- {
		sum += <-counts
	}
	return sum
}

func nqueens(s settings) ([]figure, bool) {
	elapsed := figure{unit: "s"}
	empty := board{all: 1<<s.n - 1, rows: s.n}
	expected := queensSerial(empty)
	ok := true
	for i := 0; i < s.runs; i++ {
		count := 0
		elapsed.values = append(elapsed.values, secondsOf(func() { count = queensThreads(empty) }))
		ok = ok && count == expected
	}
	return []figure{elapsed}, ok
}

func processorSeconds() float64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

func idle(s settings) ([]figure, bool) {
	load := figure{unit: "% CPU"}
	for i := 0; i < s.runs; i++ {
		done := make(chan bool)
		go func() { done <- true }()
		<-done
		time.Sleep(20 * time.Millisecond)
		used := processorSeconds()
		elapsed := secondsOf(func() { time.Sleep(time.Duration(s.n) * time.Millisecond) })
		load.values = append(load.values, 100*(processorSeconds()-used)/elapsed)
	}
	return []figure{load}, true
}

// One goroutine posts through a channel, another waits at it.
func wake(s settings) ([]figure, bool) {
	cost := figure{unit: "us"}
	for i := 0; i < s.runs; i++ {
		work := make(chan time.Time)
		latency := make(chan float64, 1)
		go func() {
			for posted := range work {
				latency <- 1e6 * time.Since(posted).Seconds()
			}
		}()
		var samples []float64
		for k := 0; k < s.n; k++ {
			time.Sleep(2 * time.Millisecond)
			work <- time.Now()
			time.Sleep(200 * time.Microsecond)
			samples = append(samples, <-latency)
		}
		close(work)
		cost.values = append(cost.values, median(samples))
	}
	return []figure{cost}, true
}
