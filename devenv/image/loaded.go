// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

const (
	// maxTargets bounds the clusters that are known; an environment has far fewer.
	maxTargets = 64
	// maxLoaded bounds what is remembered of one cluster. What was loaded longest ago is forgotten
	// and loaded again when it is asked for. Nodes remember more (kubelets that simulate, 500).
	maxLoaded = 200
)

// loaded remembers which images are in which cluster. Who loads into a cluster does it alone, so
// that nobody loads what another is just loading.
type loaded struct {
	mu      sync.Mutex
	targets map[string]*loadedTarget
}

type loadedTarget struct {
	// turn holds a token while somebody loads.
	turn chan struct{}
	keys []string
}

func newLoaded() *loaded { return &loaded{targets: map[string]*loadedTarget{}} }

// has tells whether it was loaded.
func (l *loaded) has(target, key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.targets[target]
	return t != nil && slices.Contains(t.keys, key)
}

// once runs load in its turn, unless somebody has loaded the same meanwhile.
func (l *loaded) once(ctx context.Context, target, key string, load func() error) error {
	t, err := l.target(target)
	if err != nil {
		return err
	}
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if l.has(target, key) {
		return nil
	}
	if err := load(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	t.keys = append(t.keys, key)
	t.keys = t.keys[max(0, len(t.keys)-maxLoaded):]
	return nil
}

func (l *loaded) target(name string) (*loadedTarget, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.targets[name]
	if t == nil {
		if len(l.targets) == maxTargets {
			return nil, errors.New("images were asked for by the names of too many deploy targets")
		}
		t = &loadedTarget{turn: make(chan struct{}, 1)}
		l.targets[name] = t
	}
	return t, nil
}

// loadKey names what is loaded: the same names for other sources are loaded again.
func loadKey(s *Sources, names []string) string {
	return fmt.Sprintf("%s %s", s.Digest, strings.Join(names, " "))
}
