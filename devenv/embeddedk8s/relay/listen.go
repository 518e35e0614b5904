// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"strconv"

	"golang.org/x/net/netutil"
)

const (
	loopback = "127.0.0.1"
	// maxConnections is how many connections one listener has at a time; more of them wait.
	maxConnections = 256
	// Listeners prefer ports of this range: below those that the system gives out, that programs in pods get, and
	// NodePorts.
	firstPort, ports = 12_000, 8_000
)

// ListenFor opens a listener on 127.0.0.1: at the port that it had before, else at one that its name gives, so that an
// address is the same after everything was made again, else at any free one. before is 0 when it had none.
func ListenFor(name string, before int) (net.Listener, error) {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(name))
	numbers := []int{firstPort + int(hash.Sum32()%ports), 0}
	if before != 0 {
		numbers = append([]int{before}, numbers...)
	}
	var problems []error
	for _, number := range numbers {
		listener, err := Listen(number)
		if err == nil {
			return listener, nil
		}
		problems = append(problems, err)
	}
	return nil, fmt.Errorf("listen on %s: %w", loopback, errors.Join(problems...))
}

// Listen opens a listener on 127.0.0.1 whose connections are bounded in number; port 0 is any free one.
func Listen(port int) (net.Listener, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	return netutil.LimitListener(listener, maxConnections), nil
}
