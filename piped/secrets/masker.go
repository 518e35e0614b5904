// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"container/list"
	"fmt"
	"strings"
	"sync"
)

// Mask stands in place of a secret value.
const Mask = "******"

// maxCost bounds what a Masker remembers, in bytes: the patterns themselves and what it takes to find them.
const maxCost = 8 << 20

// Masker knows the secret values of the process. Its methods may be called from any goroutine.
type Masker struct {
	mu    sync.RWMutex
	limit int
	cost  int
	// values by what was registered.
	values map[string]*secret
	// idle lists values that no one holds, the one released first at the front.
	idle  *list.List
	index *index
}

// secret is a registered value.
type secret struct {
	value    string
	patterns []pattern
	cost     int
	holders  int
	idle     *list.Element // nil while it is held
}

// NewMasker creates a Masker that knows nothing.
func NewMasker() *Masker {
	return &Masker{limit: maxCost, values: map[string]*secret{}, idle: list.New(), index: newIndex()}
}

// FullError says that more secret values are in use than a Masker may remember.
type FullError struct {
	// Limit is in bytes.
	Limit int
}

func (e *FullError) Error() string {
	return fmt.Sprintf("the secrets that are in use at the same time need more than the %d MiB kept for masking them: "+
		"use fewer or smaller secrets, or spread the applications over several pipeds", e.Limit>>20)
}

// Add registers values for ever. It fails with *FullError, and then registers none of them.
func (m *Masker) Add(values ...string) error {
	_, err := m.Hold(values...)
	return err
}

// Hold registers values until release is called; afterwards they are remembered until their place is
// needed. It fails with *FullError, and then registers none of them.
func (m *Masker) Hold(values ...string) (release func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var held []*secret
	for _, value := range values {
		s := m.values[value]
		if s == nil {
			if s = newSecret(value); len(s.patterns) == 0 {
				continue
			}
			if !m.makeRoom(s.cost) {
				m.release(held)
				return nil, &FullError{m.limit}
			}
			m.insert(s)
		}
		if s.idle != nil {
			m.idle.Remove(s.idle)
			s.idle = nil
		}
		s.holders++
		held = append(held, s)
	}
	return sync.OnceFunc(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.release(held)
	}), nil
}

// Mask replaces every secret value in the text.
func (m *Masker) Mask(text string) string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return replace(text, m.index.spans(text))
}

// MaskPiece is Mask for a text that was cut off, within a line perhaps: a beginning of a value at its end
// is replaced too.
func (m *Masker) MaskPiece(text string) string {
	m.mu.Lock() // finding beginnings may sort the patterns
	defer m.mu.Unlock()
	return replace(text, m.index.spansWithEnd(text))
}

func newSecret(value string) *secret {
	s := &secret{value: value, patterns: patternsOf(value), cost: len(value)}
	for _, p := range s.patterns {
		s.cost += len(p.text) + patternOverhead
	}
	return s
}

func (m *Masker) insert(s *secret) {
	m.values[s.value] = s
	m.cost += s.cost
	for _, p := range s.patterns {
		m.index.add(p)
	}
}

// makeRoom forgets values that no one holds.
func (m *Masker) makeRoom(cost int) bool {
	forgotten := false
	for m.cost+cost > m.limit && m.idle.Len() > 0 {
		s := m.idle.Remove(m.idle.Front()).(*secret)
		delete(m.values, s.value)
		m.cost -= s.cost
		for _, p := range s.patterns {
			m.index.remove(p)
		}
		forgotten = true
	}
	if forgotten {
		m.index.refilter()
	}
	return m.cost+cost <= m.limit
}

func (m *Masker) release(held []*secret) {
	for _, s := range held {
		if s.holders--; s.holders == 0 {
			s.idle = m.idle.PushBack(s)
		}
	}
}

// span is a masked part of a text.
type span struct{ from, to int }

func replace(text string, spans []span) string {
	if len(spans) == 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	at := 0
	for _, s := range spans {
		b.WriteString(text[at:s.from])
		b.WriteString(Mask)
		at = s.to
	}
	b.WriteString(text[at:])
	return b.String()
}
