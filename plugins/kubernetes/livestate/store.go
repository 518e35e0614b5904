// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/health"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

const (
	// maxWanted bounds the applications whose manifests are kept, one commit of each. They are loaded again when they
	// have been pushed out.
	maxWanted = 512
	// maxVerdicts bounds the dry runs that are remembered, one for an object that looks different.
	maxVerdicts = 4096
	// maxJudged bounds the objects of which it is remembered what a rule says: more than an application reports.
	maxJudged = 16_384
	// maxLast bounds the applications of which the last answers are kept.
	maxLast = 8
	// maxClusters bounds the deploy targets that are watched. The pool of clients has the same size.
	maxClusters = 64
	// reachTimeout bounds the wait for a cluster: a question for the live state is no reason to wait for it to come up.
	reachTimeout = 10 * time.Second
)

// Store watches clusters. It may be used by several goroutines.
type Store struct {
	loader   *stage.Loader
	pool     *cluster.Pool
	masker   *masker
	wanted   *memory[wantedKey, *wanted]
	verdicts *memory[verdictKey, []difference]
	rules    rules
	last     *memory[lastKey, last]
	names    *names
	changes  *sdk.LivestateChanges

	ctx    context.Context
	cancel context.CancelFunc
	runs   sync.WaitGroup
	// mark is that of changes but in tests.
	mark func(applicationID string)
	times

	mu       sync.Mutex
	clusters map[string]*watched // by deploy target; those of the same cluster have the same
	// away are the deploy targets that could not be asked.
	away   map[string]*away
	closed bool
}

// times are reachTimeout, firstAwayPause and pulsePause but in tests.
type times struct{ reach, pause, pulse time.Duration }

// NewStore watches nothing yet. Loader and pool stay the caller's.
func NewStore(loader *stage.Loader, pool *cluster.Pool) *Store {
	ctx, cancel := context.WithCancel(context.Background())
	changes := sdk.NewLivestateChanges()
	return &Store{
		ctx: ctx, cancel: cancel, mark: changes.Mark,
		times:  times{reachTimeout, firstAwayPause, pulsePause},
		loader: loader, pool: pool, masker: newMasker(), changes: changes,
		wanted: newMemory[wantedKey, *wanted](maxWanted), verdicts: newMemory[verdictKey, []difference](maxVerdicts),
		rules:    rules{judged: newMemory[revision, judgement](maxJudged)},
		last:     newMemory[lastKey, last](maxLast),
		names:    newNames(),
		clusters: map[string]*watched{}, away: map[string]*away{},
	}
}

// UseHealth takes the rules by which objects are judged. It has to be called before the first question. The rules stay
// the caller's.
func (s *Store) UseHealth(rules *health.Rules) { s.rules.Rules = rules }

// Changes reports which applications to ask for again.
func (s *Store) Changes() *sdk.LivestateChanges { return s.changes }

// Close ends all watches and waits for them.
func (s *Store) Close() {
	s.mu.Lock()
	ended := s.clusters
	s.clusters, s.closed = map[string]*watched{}, true
	s.mu.Unlock()
	s.cancel()
	for _, w := range ended {
		w.close()
	}
	s.runs.Wait()
}

// connect returns the watched cluster of a deploy target, which has just answered. A cluster that was replaced, or
// whose credentials were, is watched again.
func (s *Store) connect(ctx context.Context, target stage.Target) (*watched, error) {
	client, err := s.pool.Reach(ctx, target.Config, s.reach)
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
	case known == nil && len(s.clusters) == maxClusters:
		return nil, errTooManyClusters
	}
	w := s.watching(client)
	if w == nil {
		w = watch(client, s.masker, s.mark)
		w.rules = s.rules.Rules
		w.runs.Go(func() { w.listen(s.pulse) })
		w.runs.Go(w.findLeftovers)
	}
	s.clusters[target.Name] = w
	if known != nil && s.watching(known.client) == nil {
		known.close()
	}
	return w, nil
}

// watching finds the watches of a client that some deploy target has.
func (s *Store) watching(client *cluster.Client) *watched {
	for _, w := range s.clusters {
		if w.client == client {
			return w
		}
	}
	return nil
}

type silent struct{}

func (silent) Infof(string, ...any) {}
