// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"errors"
	"slices"
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
// that no one loads what another is just loading.
type loaded struct {
	mu      sync.Mutex
	targets map[string]*loadedTarget
}

type loadedTarget struct {
	// turn holds a token while someone loads.
	turn chan struct{}
	// images are in the order in which they were loaded.
	images []loadedImage
}

// loadedImage is what a cluster has under a name.
type loadedImage struct{ name, digest string }

func newLoaded() *loaded { return &loaded{targets: map[string]*loadedTarget{}} }

// has reports whether all names stand for the sources with that digest.
func (l *loaded) has(target, digest string, names []string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.targets[target]
	return t != nil && !slices.ContainsFunc(names, func(name string) bool {
		return !slices.Contains(t.images, loadedImage{name, digest})
	})
}

// loading is an image on its way to a cluster.
type loading struct {
	digest string
	names  []string
	// has reports whether it is there.
	has func() bool
	// waiting is called when others have to be waited for.
	waiting func()
	load    func() error
}

// once loads an image in its turn, unless someone has loaded the same meanwhile.
func (l *loaded) once(ctx context.Context, target string, image loading) error {
	t, err := l.target(target)
	if err != nil {
		return err
	}
	select {
	case t.turn <- struct{}{}:
	default:
		image.waiting()
		select {
		case t.turn <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	defer func() { <-t.turn }()
	if image.has() {
		return nil
	}
	if err := image.load(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	t.images = slices.DeleteFunc(t.images, func(i loadedImage) bool { return slices.Contains(image.names, i.name) })
	for _, name := range image.names {
		t.images = append(t.images, loadedImage{name, image.digest})
	}
	t.images = t.images[max(0, len(t.images)-maxLoaded):]
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
