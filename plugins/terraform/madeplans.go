// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"sync"

	"github.com/pipedeck/pipedeck/plugins/terraform/session"
)

// maxMade bounds the plans that are remembered until they are applied.
const maxMade = 100

// madePlans are the plans that this process has made, by the sum of their files. A plan that is among them has not to
// be read again, which takes a start of the program.
type madePlans struct {
	mu    sync.Mutex
	bySum map[string]session.Plan
}

// put remembers a plan without its JSON.
func (m *madePlans) put(plan *session.Plan) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bySum == nil || len(m.bySum) >= maxMade {
		m.bySum = map[string]session.Plan{}
	}
	known := *plan
	known.JSON = nil
	m.bySum[plan.Sum] = known
}

// take returns a plan that is applied now, once.
func (m *madePlans) take(sum string) (*session.Plan, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	plan, is := m.bySum[sum]
	delete(m.bySum, sum)
	return &plan, is
}
