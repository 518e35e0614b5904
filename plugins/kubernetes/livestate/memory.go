// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import "sync"

// memory keeps the entries that were used last.
type memory[K comparable, V any] struct {
	mu      sync.Mutex
	bound   int
	entries map[K]*entry[V]
	clock   int64
}

type entry[V any] struct {
	value V
	used  int64
}

func newMemory[K comparable, V any](bound int) *memory[K, V] {
	return &memory[K, V]{bound: bound, entries: map[K]*entry[V]{}}
}

func (m *memory[K, V]) get(key K) (value V, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[key]
	if e == nil {
		return value, false
	}
	m.clock++
	e.used = m.clock
	return e.value, true
}

func (m *memory[K, V]) put(key K, value V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clock++
	m.entries[key] = &entry[V]{value: value, used: m.clock}
	if len(m.entries) <= m.bound {
		return
	}
	var oldest K
	at := m.clock + 1
	for k, e := range m.entries {
		if e.used < at {
			oldest, at = k, e.used
		}
	}
	delete(m.entries, oldest)
}

// remove returns the value of a key and forgets it.
func (m *memory[K, V]) remove(key K) (value V, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[key]
	if e == nil {
		return value, false
	}
	delete(m.entries, key)
	return e.value, true
}
