// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import "container/list"

// memory holds the commit that was looked at last for each application: the longest unused ones are
// forgotten. PipeCD v1: 500 applications.
type memory struct {
	limit   int
	order   *list.List // of remembered, newest use first
	entries map[string]*list.Element
}

type remembered struct{ application, commit string }

func newMemory(limit int) *memory {
	return &memory{limit: limit, order: list.New(), entries: map[string]*list.Element{}}
}

func (m *memory) get(application string) (commit string, known bool) {
	entry, known := m.entries[application]
	if !known {
		return "", false
	}
	m.order.MoveToFront(entry)
	return entry.Value.(remembered).commit, true
}

// keep forgets all applications but those that exist.
func (m *memory) keep(exists func(application string) bool) {
	for application, entry := range m.entries {
		if !exists(application) {
			m.order.Remove(entry)
			delete(m.entries, application)
		}
	}
}

func (m *memory) put(application, commit string) {
	if entry, known := m.entries[application]; known {
		entry.Value = remembered{application, commit}
		m.order.MoveToFront(entry)
		return
	}
	m.entries[application] = m.order.PushFront(remembered{application, commit})
	if m.order.Len() > m.limit {
		oldest := m.order.Remove(m.order.Back()).(remembered)
		delete(m.entries, oldest.application)
	}
}
