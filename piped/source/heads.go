// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/pipedeck/pipedeck/api/model"
)

// maxLent bounds the commits of which a deployment has the repository at the same time.
const maxLent = 8

// Heads lends the repository at the head of the branch to the stages of deployments, while they run. It is safe for
// concurrent use.
type Heads struct {
	find func(context.Context, *model.Deployment) (*Source, error)
	mu   sync.Mutex
	// lent are by the ids of deployments.
	lent map[string]*lent
}

// lent are the sources that a deployment has, one for each commit.
type lent struct {
	mu       sync.Mutex
	byCommit map[string]*Source
	over     bool
}

// NewHeads returns Heads of what find returns, such as Sources.Head. They own these sources.
func NewHeads(find func(context.Context, *model.Deployment) (*Source, error)) *Heads {
	return &Heads{find: find, lent: map[string]*lent{}}
}

// Lend looks for the head of the branch again and returns the repository there. The source stays until Return; the
// caller does not close it.
func (h *Heads) Lend(ctx context.Context, d *model.Deployment) (*Source, error) {
	h.mu.Lock()
	of := h.lent[d.GetId()]
	if of == nil {
		of = &lent{byCommit: map[string]*Source{}}
		h.lent[d.GetId()] = of
	}
	h.mu.Unlock()
	of.mu.Lock()
	defer of.mu.Unlock()
	if of.over {
		return nil, errors.New("the stage has ended")
	}
	head, err := h.find(ctx, d)
	if err != nil {
		return nil, err
	}
	if known := of.byCommit[head.Commit]; known != nil {
		return known, head.Close()
	}
	if len(of.byCommit) == maxLent {
		return nil, errors.Join(fmt.Errorf("the stages that run have asked for the head of the branch at more than "+
			"%d commits", maxLent), head.Close())
	}
	of.byCommit[head.Commit] = head
	return head, nil
}

// Return takes back what a deployment has, of which no stage runs any more. It does not wait: closed does the work.
func (h *Heads) Return(deploymentID string) (closed func()) {
	h.mu.Lock()
	of := h.lent[deploymentID]
	delete(h.lent, deploymentID)
	h.mu.Unlock()
	return func() {
		if of == nil {
			return
		}
		of.mu.Lock()
		defer of.mu.Unlock()
		of.over = true
		for _, source := range of.byCommit {
			_ = source.Close() // the store removes it at the latest when piped ends
		}
	}
}
