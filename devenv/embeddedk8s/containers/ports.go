// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// Ports come from the range that Kubernetes uses for node ports. It is below the one from which systems take the ports
// of outgoing connections, so that none of these takes a port between its choice and its use.
const (
	firstPort = 30000
	endPort   = 32768
)

// Ports gives out free ports of 127.0.0.1, none of them twice.
type Ports struct {
	mu    sync.Mutex
	taken map[int]bool
	next  int
}

// NewPorts returns Ports that begin anywhere in their range, so that two clusters seldom look at the same ones.
func NewPorts() *Ports {
	return &Ports{taken: map[int]bool{}, next: firstPort + rand.IntN(endPort-firstPort)}
}

// Take returns a free port. The caller releases it.
func (p *Ports) Take() (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for range endPort - firstPort {
		port := p.next
		if p.next++; p.next == endPort {
			p.next = firstPort
		}
		if !p.taken[port] && free(port) {
			p.taken[port] = true
			return port, nil
		}
	}
	return 0, fmt.Errorf("no free port from %d to %d; delete some pods", firstPort, endPort-1)
}

// Release gives a port back.
func (p *Ports) Release(port int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.taken, port)
}

func free(port int) bool {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	_ = listener.Close()
	return true
}
