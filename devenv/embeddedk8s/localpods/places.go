// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"encoding/json"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/containers"
)

const (
	// listenGrace is how long after its start a container may take to listen until that counts as a problem, and until
	// another port is taken for the one that it declares.
	listenGrace = 2 * time.Second
	// viewAge is how long a look at the listeners of this machine serves for what was not found, in the time in which a
	// program begins to listen; lateViewAge is that afterwards.
	viewAge, lateViewAge = 20 * time.Millisecond, 200 * time.Millisecond
)

// places knows where the ports of a pod answer on this machine. Where the system shows who listens, only listeners of
// the pod's own processes count: a port of this machine may be in use by any program. Its methods may be called from
// any goroutine.
type places struct {
	listeners *containers.Listeners

	mu      sync.Mutex
	members []*member
	// known are the listeners that were found, by their ports; moved are the ports of the pod that are not where they
	// were expected.
	known map[int]containers.Listener
	moved map[int32]int
	// view is the last look, of the time seen; failed are the ports that were not found in it.
	view   *containers.View
	seen   time.Time
	failed map[int32]error
}

// member is a container of the pod.
type member struct {
	name     string
	declared []int32 // its TCP ports
	assigned int     // the one in PORT, which stands for the first declared one; 0: none
	launched bool    // since this cluster has started
	process  *containers.Process
}

func newPlaces(listeners *containers.Listeners, of *corev1.Pod) *places {
	l := &places{listeners: listeners, known: map[int]containers.Listener{}, moved: map[int32]int{}}
	for i := range of.Spec.InitContainers {
		if policy := of.Spec.InitContainers[i].RestartPolicy; policy != nil &&
			*policy == corev1.ContainerRestartPolicyAlways {
			l.members = append(l.members, newMember(&of.Spec.InitContainers[i]))
		}
	}
	for i := range of.Spec.Containers {
		l.members = append(l.members, newMember(&of.Spec.Containers[i]))
	}
	return l
}

func newMember(spec *corev1.Container) *member {
	m := &member{name: spec.Name}
	for _, port := range spec.Ports {
		if port.Protocol == "" || port.Protocol == corev1.ProtocolTCP {
			m.declared = append(m.declared, port.ContainerPort)
		}
	}
	return m
}

// start takes note of a run of a container with a port in PORT, or 0.
func (l *places) start(container string, assigned int, process *containers.Process) {
	l.change(container, func(m *member) { m.assigned, m.launched, m.process = assigned, true, process })
}

// memberOf is a container of the pod, whose name and declared ports do not change; nil for one that has no ports.
func (l *places) memberOf(container string) *member {
	for _, m := range l.members {
		if m.name == container {
			return m
		}
	}
	return nil
}

// end takes note of the end of a container's run.
func (l *places) end(container string) { l.change(container, func(m *member) { m.process = nil }) }

func (l *places) change(container string, change func(*member)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m := l.memberOf(container); m != nil {
		change(m)
		l.view = nil
		clear(l.moved)
	}
}

// find returns where a port of the pod answers. The error is *unreached.
func (l *places) find(port int32) (number int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m, numbers := l.expected(port)
	if m == nil {
		return 0, &unreached{text: "no container of the pod runs"}
	}
	if !l.listeners.Shown() {
		return numbers[0], nil
	}
	if number := l.open(numbers); number != 0 {
		return number, nil
	}
	delete(l.moved, port)
	late := time.Since(m.process.StartedAt) > listenGrace
	view, err := l.look(late)
	if err != nil {
		return 0, &unreached{text: err.Error()}
	}
	if err := l.failed[port]; err != nil {
		return 0, err
	}
	for i, number := range numbers {
		if listener, own := view.Own(number, i == 0 || late); own {
			l.found(port, listener, numbers[0])
			return number, nil
		}
	}
	if listener, ok := l.instead(view, port); late && ok {
		l.found(port, listener, numbers[0])
		return listener.Port, nil
	}
	l.failed[port] = m.why(view, port, numbers[0], late)
	return 0, l.failed[port]
}

// expected returns the container of a port and where it may listen on this machine, the likeliest place first; nil
// while it does not run.
func (l *places) expected(port int32) (*member, []int) {
	var running *member
	for _, m := range l.members {
		switch {
		case slices.Contains(m.declared, port):
			if m.process == nil {
				return nil, nil
			}
			if m.assigned == 0 || m.declared[0] != port {
				return m, l.also(port, int(port))
			}
			return m, l.also(port, m.assigned, int(port))
		case running == nil && m.process != nil:
			running = m
		}
	}
	if running != nil && l.stands(running) {
		return running, l.also(port, running.assigned, int(port))
	}
	return running, l.also(port, int(port))
}

// stands reports whether all ports of the pod are the one in PORT: its only container declares none.
func (l *places) stands(m *member) bool {
	return len(l.members) == 1 && len(m.declared) == 0 && m.assigned != 0
}

// also adds the place at which a port was found although it was not expected there.
func (l *places) also(port int32, numbers ...int) []int {
	if moved := l.moved[port]; moved != 0 && !slices.Contains(numbers, moved) {
		return append(numbers, moved)
	}
	return numbers
}

// open returns the first of the numbers whose listener is known and still there; 0 for none.
func (l *places) open(numbers []int) int {
	for _, number := range numbers {
		listener, known := l.known[number]
		switch {
		case known && listener.Open():
			return number
		case known:
			delete(l.known, number)
			l.view = nil
		}
	}
	return 0
}

func (l *places) look(late bool) (*containers.View, error) {
	age := viewAge
	if late {
		age = lateViewAge
	}
	if l.view != nil && time.Since(l.seen) < age {
		return l.view, nil
	}
	var own []*containers.Process
	for _, m := range l.members {
		if m.process != nil {
			own = append(own, m.process)
		}
	}
	view, err := l.listeners.Look(own...)
	l.view, l.seen, l.failed = view, time.Now(), map[int32]error{}
	return view, err
}

func (l *places) found(port int32, at containers.Listener, expected int) {
	l.known[at.Port] = at
	if at.Port != expected {
		l.moved[port] = at.Port
	}
}

// instead returns the listener that must be the one of a port because nothing else is left: the pod listens at one
// port that it does not declare, and declares one port at which it does not listen.
func (l *places) instead(view *containers.View, port int32) (containers.Listener, bool) {
	var missing []int32
	var claimed []int
	for _, m := range l.members {
		if l.stands(m) {
			missing = append(missing, port)
		}
		for i, declared := range m.declared {
			numbers := []int{int(declared)}
			if i == 0 && m.assigned != 0 {
				numbers = append(numbers, m.assigned)
			}
			claimed = append(claimed, numbers...)
			if !slices.ContainsFunc(numbers, func(number int) bool { _, own := view.Own(number, true); return own }) {
				missing = append(missing, declared)
			}
		}
	}
	free := slices.DeleteFunc(view.OwnPorts(), func(number int) bool { return slices.Contains(claimed, number) })
	if len(free) != 1 || len(missing) != 1 || missing[0] != port {
		return containers.Listener{}, false
	}
	return view.Own(free[0], true)
}

// movedTo returns where a port answers when that is not where it was expected.
func (l *places) movedTo(port int32) (expected, number int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	number, ok = l.moved[port]
	if m, numbers := l.expected(port); m != nil {
		expected = numbers[0]
	}
	return expected, number, ok
}

// addresses are those that the pod shows, as a JSON object; empty for none.
func (l *places) addresses() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := map[string]string{}
	for _, m := range l.members {
		if !m.launched {
			continue
		}
		for i, port := range m.declared {
			number := int(port)
			if i == 0 && m.assigned != 0 {
				number = m.assigned
			}
			if moved := l.moved[port]; moved != 0 {
				number = moved
			}
			all[strconv.Itoa(int(port))] = loopback(number)
		}
		if l.stands(m) {
			all[strconv.Itoa(m.assigned)] = loopback(m.assigned)
		}
	}
	if len(all) == 0 {
		return ""
	}
	text, _ := json.Marshal(all) // of strings: it cannot fail
	return string(text)
}

func loopback(port int) string { return net.JoinHostPort(nodeAddress, strconv.Itoa(port)) }
