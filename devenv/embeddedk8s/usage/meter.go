// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/localpods"
)

const (
	// least is the shortest time over which the use of processors is measured: the system counts in hundredths of a
	// second.
	least = time.Second
	// most is the longest: what was long ago says nothing about now.
	most = time.Minute
)

// ErrSimulated says that no pod of the cluster runs as processes.
var ErrSimulated = errors.New("all pods of this cluster are simulated: they run no process whose use could be measured")

// Source reads what containers use now: *localpods.Manager.
type Source interface {
	Usage() ([]localpods.ContainerUsage, error)
}

// Container is what a container uses.
type Container struct {
	// CPU is the mean over the window, in thousandths of a processor.
	CPU int64
	// Memory is in bytes, at the end of the window.
	Memory int64
}

// Pod is what the containers of a pod use, by their names.
type Pod struct {
	Containers map[string]Container
	// Window is the time over which the use of processors was measured: the shortest of the containers.
	Window time.Duration
}

// Total is the sum of all containers.
func (p Pod) Total() (total Container) {
	for _, container := range p.Containers {
		total.CPU += container.CPU
		total.Memory += container.Memory
	}
	return total
}

// Measurement is what pods used in a window that ends At.
type Measurement struct {
	At   time.Time
	Pods map[types.NamespacedName]Pod
}

// reading is what containers had used at a time, by their runs.
type reading struct {
	at   time.Time
	runs map[string]localpods.ContainerUsage
}

// Meter measures when it is asked. Its methods may be called from any goroutine.
type Meter struct {
	clock clock.Clock

	mu     sync.Mutex
	source Source
	before *reading
	result Measurement
}

// New returns a Meter that knows of no pods before Attach.
func New(clock clock.Clock) *Meter { return &Meter{clock: clock} }

// Attach says where pods run.
func (m *Meter) Attach(source Source) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.source = source
}

// Measure returns what the pods use. It takes up to a second. Errors: ErrSimulated, containers.ErrUnmeasured, the
// context's end.
func (m *Meter) Measure(ctx context.Context) (Measurement, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.source == nil {
		return Measurement{}, ErrSimulated
	}
	since := m.clock.Since(m.result.At)
	if m.before != nil && since < least {
		return m.result, nil
	}
	if m.before == nil || since > most {
		before, err := m.read()
		if err != nil {
			return Measurement{}, err
		}
		timer := m.clock.NewTimer(least)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return Measurement{}, ctx.Err()
		case <-timer.C():
		}
		m.before = before
	}
	now, err := m.read()
	if err != nil {
		return Measurement{}, err
	}
	m.result = between(*m.before, *now)
	m.before = now
	return m.result, nil
}

func (m *Meter) read() (*reading, error) {
	all, err := m.source.Usage()
	if err != nil {
		return nil, err
	}
	now := &reading{m.clock.Now(), map[string]localpods.ContainerUsage{}}
	for _, of := range all {
		now.runs[of.Run] = of
	}
	return now, nil
}

// between is what was used between two readings. A run that began meanwhile is measured from its beginning, and left
// out while it is too young.
func between(before, now reading) Measurement {
	result := Measurement{now.at, map[types.NamespacedName]Pod{}}
	for name, run := range now.runs {
		earlier, known := before.runs[name]
		from := before.at
		if !known {
			from = run.StartedAt
		}
		window := now.at.Sub(from)
		if window < least {
			continue
		}
		pod := result.Pods[run.Pod]
		if pod.Containers == nil {
			pod = Pod{map[string]Container{}, window}
		}
		pod.Window = min(pod.Window, window)
		pod.Containers[run.Container] = Container{
			CPU: max(0, run.CPU-earlier.CPU) * 1000 / int64(window), Memory: run.Memory,
		}
		result.Pods[run.Pod] = pod
	}
	return result
}
