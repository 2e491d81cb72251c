// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

func secondsOf(f func()) float64 {
	start := time.Now()
	f()
	return time.Since(start).Seconds()
}

// Bytes of a line "Key:  123 kB" in a file of /proc.
func procBytes(path, key string) float64 {
	file, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if words := strings.Fields(lines.Text()); len(words) > 1 && words[0] == key {
			kib, _ := strconv.ParseFloat(words[1], 64)
			return 1024 * kib
		}
	}
	return 0
}

func resident() float64     { return procBytes("/proc/self/smaps_rollup", "Rss:") }
func peakResident() float64 { return procBytes("/proc/self/status", "VmHWM:") }

func yield(s settings) ([]figure, bool) {
	cost := figure{unit: "ns"}
	for i := 0; i < s.runs; i++ {
		var both sync.WaitGroup
		both.Add(2)
		time := secondsOf(func() {
			for t := 0; t < 2; t++ {
				go func() {
					for k := 0; k < s.n/2; k++ {
						runtime.Gosched()
					}
					both.Done()
				}()
			}
			both.Wait()
		})
		cost.values = append(cost.values, 1e9*time/float64(s.n))
	}
	return []figure{cost}, true
}

func createOne(s settings) ([]figure, bool) {
	cost := figure{unit: "ns"}
	ok := true
	for i := 0; i < s.runs; i++ {
		ran := 0
		time := secondsOf(func() {
			for k := 0; k < s.n; k++ {
				var one sync.WaitGroup
				one.Add(1)
				go func() {
					ran++
					one.Done()
				}()
				one.Wait()
			}
		})
		cost.values = append(cost.values, 1e9*time/float64(s.n))
		ok = ok && ran == s.n
	}
	return []figure{cost}, ok
}

// Memory figures need a process of their own: only the first run counts, so one run is made.
func createMany(s settings) ([]figure, bool) {
	before := resident()
	var ran int64
	var all sync.WaitGroup
	all.Add(s.n)
	time := secondsOf(func() {
		for k := 0; k < s.n; k++ {
			go func() {
				atomic.AddInt64(&ran, 1)
				all.Done()
			}()
		}
		all.Wait()
	})
	n := float64(s.n)
	return []figure{{"ns", []float64{1e9 * time / n}}, {"bytes", []float64{max(0, peakResident()-before) / n}}}, ran == int64(s.n)
}

func blocked(s settings) ([]figure, bool) {
	before := resident()
	var arrived int64
	gate := make(chan struct{})
	var all sync.WaitGroup
	all.Add(s.n)
	gather := secondsOf(func() {
		for k := 0; k < s.n; k++ {
			go func() {
				atomic.AddInt64(&arrived, 1)
				<-gate
				all.Done()
			}()
		}
		for atomic.LoadInt64(&arrived) < int64(s.n) {
			runtime.Gosched()
		}
	})
	bytes := (resident() - before) / float64(s.n)
	release := secondsOf(func() {
		close(gate)
		all.Wait()
	})
	return []figure{{"s", []float64{gather + release}}, {"bytes", []float64{bytes}}}, true
}

func mutex(s settings) ([]figure, bool) {
	cost := figure{unit: "ns"}
	ok := true
	for i := 0; i < s.runs; i++ {
		var lock sync.Mutex
		counter := 0
		time := secondsOf(func() {
			for k := 0; k < s.n; k++ {
				lock.Lock()
				counter++
				lock.Unlock()
			}
		})
		cost.values = append(cost.values, 1e9*time/float64(s.n))
		ok = ok && counter == s.n
	}
	return []figure{cost}, ok
}

const contenders = 8

// Returns the time of all, the longest wait in seconds (only if watched), and the count.
func contend(each int, watched bool) (elapsed, longest float64, counter int) {
	var lock sync.Mutex
	var all sync.WaitGroup
	all.Add(contenders)
	worst := make([]float64, contenders)
	add := func(t int) {
		for k := 0; k < each; k++ {
			var asked time.Time
			if watched {
				asked = time.Now()
			}
			lock.Lock()
			if watched {
				worst[t] = max(worst[t], time.Since(asked).Seconds())
			}
			counter++
			lock.Unlock()
		}
		all.Done()
	}
	elapsed = secondsOf(func() {
		for t := 0; t < contenders; t++ {
			go add(t)
		}
		all.Wait()
	})
	for _, w := range worst {
		longest = max(longest, w)
	}
	return elapsed, longest, counter
}

func mutexContended(s settings) ([]figure, bool) {
	cost, wait := figure{unit: "ns"}, figure{unit: "ms longest wait"}
	each := s.n / contenders
	ok := true
	for i := 0; i < s.runs; i++ {
		elapsed, _, counter := contend(each, false)
		_, longest, again := contend(each, true)
		cost.values = append(cost.values, 1e9*elapsed/float64(each*contenders))
		wait.values = append(wait.values, 1e3*longest)
		ok = ok && counter == each*contenders && again == counter
	}
	return []figure{cost, wait}, ok
}

// One sends n numbers to another.
func transfer(numbers chan int, n int) (time float64, sum int) {
	var both sync.WaitGroup
	both.Add(2)
	time = secondsOf(func() {
		go func() {
			for k := 0; k < n; k++ {
				numbers <- k
			}
			both.Done()
		}()
		go func() {
			for k := 0; k < n; k++ {
				sum += <-numbers
			}
			both.Done()
		}()
		both.Wait()
	})
	return time, sum
}

func channel(s settings) ([]figure, bool) {
	buffered := figure{unit: "ns"}
	meeting := figure{unit: "ns/meeting"}
	ok := true
	for i := 0; i < s.runs; i++ {
		time, sum := transfer(make(chan int, 64), s.n)
		buffered.values = append(buffered.values, 1e9*time/float64(s.n))
		ok = ok && sum == s.n*(s.n-1)/2
		meetings := s.n / 5
		time, sum = transfer(make(chan int), meetings)
		meeting.values = append(meeting.values, 1e9*time/float64(meetings))
		ok = ok && sum == meetings*(meetings-1)/2
	}
	return []figure{buffered, meeting}, ok
}
