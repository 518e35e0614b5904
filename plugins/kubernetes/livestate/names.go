// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import "sync"

// maxNames bounds the applications whose names are remembered, and those that wait for one. Others are shown by id.
const maxNames = 20_000

// names are those of the applications that piped has asked about. The nil value knows none.
type names struct {
	mu   sync.Mutex
	byID map[string]string
	// waiting are the applications whose answers have an id, by that id.
	waiting map[string]map[string]bool
}

func newNames() *names {
	return &names{byID: map[string]string{}, waiting: map[string]map[string]bool{}}
}

// learn remembers a name, and returns the applications whose last answers have the id in its place.
func (n *names) learn(id, name string) (waiting []string) {
	if n == nil || name == "" {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, known := n.byID[id]; known || len(n.byID) < maxNames {
		n.byID[id] = name
	}
	for one := range n.waiting[id] {
		waiting = append(waiting, one)
	}
	delete(n.waiting, id)
	return waiting
}

// of is the name of an application in an answer about another one; the id while the name is not known.
func (n *names) of(id, asking string) string {
	if n == nil {
		return id
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if name := n.byID[id]; name != "" {
		return name
	}
	if n.waiting[id] == nil && len(n.waiting) < maxNames {
		n.waiting[id] = map[string]bool{}
	}
	if of := n.waiting[id]; of != nil && len(of) < maxNames {
		of[asking] = true
	}
	return id
}
