// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"
	"sync"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

const (
	// maxWanted bounds the commits whose manifests are kept. A commit is loaded again when it has been pushed out.
	maxWanted = 512
	// maxVerdicts bounds the dry runs that are remembered, one for an object that looks different.
	maxVerdicts = 4096
	// maxClusters bounds the deploy targets that are watched. The pool of clients has the same order of size.
	maxClusters = 64
)

// Store watches clusters. It may be used by several goroutines.
type Store struct {
	loader   *stage.Loader
	pool     *cluster.Pool
	masker   *masker
	wanted   *memory[wantedKey, *wanted]
	verdicts *memory[verdictKey, []difference]
	changes  *sdk.LivestateChanges

	mu       sync.Mutex
	clusters map[string]*watched // by deploy target
	closed   bool
}

// NewStore watches nothing yet. Loader and pool stay the caller's.
func NewStore(loader *stage.Loader, pool *cluster.Pool) *Store {
	return &Store{
		loader: loader, pool: pool, masker: newMasker(), changes: sdk.NewLivestateChanges(),
		wanted: newMemory[wantedKey, *wanted](maxWanted), verdicts: newMemory[verdictKey, []difference](maxVerdicts),
		clusters: map[string]*watched{},
	}
}

// Changes tells which applications to ask for again.
func (s *Store) Changes() *sdk.LivestateChanges { return s.changes }

// Close ends all watches and waits for them.
func (s *Store) Close() {
	s.mu.Lock()
	ended := s.clusters
	s.clusters, s.closed = map[string]*watched{}, true
	s.mu.Unlock()
	for _, w := range ended {
		w.close()
	}
}

// connect gives the watched cluster of a deploy target, which has just answered. A cluster that was replaced, or whose
// credentials were, is watched anew.
func (s *Store) connect(ctx context.Context, target stage.Target) (*watched, error) {
	client, err := s.pool.Connect(ctx, target.Config, silent{})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.clusters[target.Name]
	switch {
	case s.closed:
		return nil, context.Canceled
	case known != nil && known.client == client:
		return known, nil
	case known != nil:
		defer known.close()
	case len(s.clusters) == maxClusters:
		return nil, errTooManyClusters
	}
	w := watch(client, s.masker, s.changes.Mark)
	s.clusters[target.Name] = w
	return w, nil
}

type silent struct{}

func (silent) Infof(string, ...any) {}
