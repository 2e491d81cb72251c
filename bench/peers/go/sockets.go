// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

func connection(number int) net.Conn {
	file := os.NewFile(uintptr(number), "socket")
	c, err := net.FileConn(file)
	if err != nil {
		fail(err.Error())
	}
	file.Close()
	return c
}

// As bench/socketpair/socketpair.hpp.
func socketpair(s settings) ([]figure, bool) {
	cost, ok := figure{unit: "ns"}, true
	for i := 0; i < s.runs; i++ {
		ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		if err != nil {
			fail(err.Error())
		}
		here, there := connection(ends[0]), connection(ends[1])
		done := make(chan bool)
		begin := time.Now()
		go func() {
			b := make([]byte, 1)
			for k := 0; k < s.n; k++ {
				if n, _ := there.Read(b); n != 1 {
					break
				}
				b[0]++
				if n, _ := there.Write(b); n != 1 {
					break
				}
			}
			there.Close()
			done <- true
		}()
		b := make([]byte, 1)
		for k := 0; k < s.n && ok; k++ {
			b[0] = byte(k)
			sent, _ := here.Write(b)
			got, _ := here.Read(b)
			ok = sent == 1 && got == 1 && b[0] == byte(k+1)
		}
		<-done
		cost.values = append(cost.values, float64(time.Since(begin).Nanoseconds())/float64(s.n))
		here.Close()
	}
	return []figure{cost}, ok
}

// The server that bench/peers/echo_clients.cpp starts; a goroutine for each connection.
func echo(s settings) ([]figure, bool) {
	listener, err := net.FileListener(os.NewFile(3, "listener"))
	if err != nil {
		fail("echo is started by echo-clients, which hands it a socket: " + err.Error())
	}
	var open sync.WaitGroup
	for k := 0; k < s.n; k++ {
		c, err := listener.Accept()
		if err != nil {
			fail(err.Error())
		}
		open.Add(1)
		go func() {
			defer open.Done()
			defer c.Close()
			message := make([]byte, 1024)
			for {
				got, err := c.Read(message)
				if err != nil {
					return
				}
				if _, err := c.Write(message[:got]); err != nil {
					return
				}
			}
		}()
	}
	open.Wait()
	return nil, true
}
