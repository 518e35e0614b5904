// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/containers"
)

// ContainerUsage is what a run of a container uses.
type ContainerUsage struct {
	Pod       types.NamespacedName
	Container string
	// Run names the run among all of the cluster.
	Run       string
	StartedAt time.Time
	containers.Usage
}

// Usage returns what the containers that run now use. The error is containers.ErrUnmeasured on systems that do not
// report it.
func (m *Manager) Usage() ([]ContainerUsage, error) {
	var all []ContainerUsage
	var numbers []int
	groups := map[int]bool{}
	m.mu.RLock()
	for uid, p := range m.pods {
		p.mu.Lock()
		name := types.NamespacedName{Namespace: p.latest.Namespace, Name: p.latest.Name}
		for container, run := range p.running {
			all = append(all, ContainerUsage{
				Pod: name, Container: container, Run: fmt.Sprint(uid, "/", container, "/", run.process.PID),
				StartedAt: run.process.StartedAt,
			})
			numbers = append(numbers, run.process.PID)
			groups[run.process.PID] = true
		}
		p.mu.Unlock()
	}
	m.mu.RUnlock()
	usages, err := containers.Usages(groups)
	if err != nil {
		return nil, err
	}
	known := all[:0]
	for i, of := range all {
		if usage, ok := usages[numbers[i]]; ok {
			of.Usage = usage
			known = append(known, of)
		}
	}
	return known, nil
}
