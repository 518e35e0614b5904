// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package services

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

// listenFor opens a listener for a Service's port: at the number that it had before, else at one that its name gives,
// so that an address is the same after the cluster was made again, else at any free one. before is 0 when it had none.
func listenFor(name string, before int) (net.Listener, error) {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(name))
	numbers := []int{firstPort + int(hash.Sum32()%ports), 0}
	if before != 0 {
		numbers = append([]int{before}, numbers...)
	}
	var problems []error
	for _, number := range numbers {
		listener, err := listenOn(number)
		if err == nil {
			return listener, nil
		}
		problems = append(problems, err)
	}
	return nil, fmt.Errorf("listen on %s: %w", loopback, errors.Join(problems...))
}

func listenOn(port int) (net.Listener, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	return netutil.LimitListener(listener, maxConnections), nil
}

// portOf returns the number in host:port, or 0.
func portOf(address string) int {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return 0
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return 0
	}
	return int(number)
}
