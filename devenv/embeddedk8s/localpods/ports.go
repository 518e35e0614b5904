// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"encoding/json"
	"net"
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// ports are where the ports of a pod are on this machine.
type ports struct {
	// known are the declared ports of containers that have started at least once.
	known map[int32]target
	// other stands for all other ports when the only container declares none; its number is 0 when that is not so.
	other target
	// running is set while any container runs.
	running bool
}

// target is a port of this machine.
type target struct {
	number  int
	running bool // its container runs now
}

// of returns where a port answers; ok is false while nothing can.
func (p ports) of(port int32) (number int, ok bool) {
	if found, ok := p.known[port]; ok {
		return found.number, found.running
	}
	if p.other.number != 0 {
		return p.other.number, p.other.running
	}
	return int(port), p.running
}

// addresses are those that the pod shows, as a JSON object.
func (p ports) addresses() string {
	all := map[string]string{}
	for port, found := range p.known {
		all[strconv.Itoa(int(port))] = loopback(found.number)
	}
	if p.other.number != 0 {
		all[strconv.Itoa(p.other.number)] = loopback(p.other.number)
	}
	if len(all) == 0 {
		return ""
	}
	text, _ := json.Marshal(all) // of strings: it cannot fail
	return string(text)
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// tcpPorts are the ports that a container declares for TCP.
func tcpPorts(container *corev1.Container) []int32 {
	var declared []int32
	for _, port := range container.Ports {
		if port.Protocol == "" || port.Protocol == corev1.ProtocolTCP {
			declared = append(declared, port.ContainerPort)
		}
	}
	return declared
}

// hostPort is where a port of the container answers on this machine: its first port is the one in PORT.
func (c *container) hostPort(port int) int {
	declared := tcpPorts(c.spec)
	if c.port != 0 && (len(declared) == 0 || int(declared[0]) == port) {
		return c.port
	}
	return port
}

// portsOf are those of all containers of a pod.
func portsOf(all []*container) ports {
	found := ports{known: map[int32]target{}}
	for _, c := range all {
		if c.init && !c.sidecar() || !c.launched {
			continue
		}
		running := c.run != nil
		found.running = found.running || running
		declared := tcpPorts(c.spec)
		for _, port := range declared {
			found.known[port] = target{c.hostPort(int(port)), running}
		}
		if len(declared) == 0 && c.port != 0 && len(all) == 1 {
			found.other = target{c.port, running}
		}
	}
	return found
}
