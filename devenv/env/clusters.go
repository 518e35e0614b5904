// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"errors"
	"fmt"
	"sync"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

// Cluster is one cluster of an environment.
type Cluster struct {
	// Name is that of its deploy target, too.
	Name string
	// New makes the provider, with the workspace's directory created.
	New func(hooks Hooks) (cluster.Provider, error)
}

// Hooks are what a provider may report besides its progress; none of them blocks.
type Hooks struct {
	// Started gets the process id of what was started.
	Started func(pid int)
	// TakesImages is called when nodes take images, which may be long before they take pods.
	TakesImages func()
}

// runningCluster is a cluster while the environment runs.
type runningCluster struct {
	name      string
	component string
	provider  cluster.Provider
	// ready is done when the cluster was ready for the first time, images when it may take images.
	ready, images *once

	mu sync.Mutex
	// settled says that no other kind of cluster takes this one's place any more; until then early
	// holds what was loaded.
	settled bool
	early   []earlyLoad
}

// earlyLoad is an image that was brought to a cluster of some kind.
type earlyLoad struct {
	kind  cluster.Kind
	image cluster.Image
}

// once is something that happens and stays so.
type once struct {
	sync.Once
	done chan struct{}
}

func newOnce() *once { return &once{done: make(chan struct{})} }

func (o *once) happen() { o.Do(func() { close(o.done) }) }

// newClusters creates the providers; nothing is started.
func (e *Environment) newClusters() error {
	for _, c := range e.Clusters {
		component := clusterComponent(c.Name)
		images := newOnce()
		provider, err := c.New(Hooks{Started: e.childStarted(component), TakesImages: images.happen})
		if err != nil {
			return &StartError{component, err, "see pipedeck up --help for --cluster"}
		}
		e.clusters = append(e.clusters, &runningCluster{
			name: c.Name, component: component, provider: provider, ready: newOnce(), images: images,
		})
	}
	return nil
}

// clusterComponent is what users read: the name only matters when there are several.
func clusterComponent(name string) string {
	if name == workspace.TargetName {
		return componentCluster
	}
	return componentCluster + " " + name
}

func (e *Environment) runCluster(ctx context.Context, c *runningCluster) error {
	e.components.starting(c.component, "starting")
	var recognising sync.WaitGroup
	defer recognising.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	beating := sync.OnceFunc(func() {
		recognising.Go(func() { e.watchCluster(ctx, c) })
		if c.provider.Describe().Local {
			recognising.Go(func() { e.addresses.follow(ctx, c) })
		}
	})
	err := c.provider.Run(ctx,
		func(detail string, done, total int64) { e.components.progress(c.component, detail, done, total) },
		func(detail string) {
			e.loadAgain(ctx, c)
			c.ready.happen()
			c.images.happen()
			// Which kind it has become may only be known now.
			e.server.SetEnvironment(e.describe())
			e.components.ready(c.component, detail)
			recognising.Go(func() { e.recognise(ctx, c) })
			beating()
		})
	if err != nil {
		hint := e.seeLogs()
		var known *cluster.HintError
		if errors.As(err, &known) {
			hint = known.Hint
		}
		return &StartError{c.component, err, hint}
	}
	e.components.stopped(c.component)
	return nil
}

// hasImage implements HasImage.
func (all runningClusters) hasImage(target string, references []string) bool {
	c := all.named(target)
	if c == nil {
		return false
	}
	keeper, ok := c.provider.(cluster.ImageKeeper)
	return !ok || keeper.HasImage(references)
}

// loadImage brings an image to the cluster of a deploy target, as soon as its nodes take images.
func (e *Environment) loadImage(ctx context.Context, target string, image cluster.Image) error {
	c := e.clusters.named(target)
	if c == nil {
		return fmt.Errorf("this environment has no cluster %q", target)
	}
	if err := await(ctx, c.images); err != nil {
		return err
	}
	now := earlyLoad{c.provider.Describe().Kind, image}
	err := c.load(ctx, image)
	if err == nil && c.keep(now) {
		return nil
	}
	select {
	case <-c.ready.done:
		if c.provider.Describe().Kind == now.kind {
			return err
		}
	default:
	}
	// It was early: those nodes may have gone again, and others take their place.
	if err := await(ctx, c.ready); err != nil {
		return err
	}
	return c.load(ctx, image)
}

// keep remembers what was loaded early, and reports whether someone loads it again if need be.
func (c *runningCluster) keep(l earlyLoad) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.settled {
		c.early = append(c.early, l)
	}
	return !c.settled
}

// loadAgain brings to a cluster that has become ready what was loaded into one of another kind, which
// came to nothing.
func (e *Environment) loadAgain(ctx context.Context, c *runningCluster) {
	c.mu.Lock()
	early := c.early
	c.settled, c.early = true, nil
	c.mu.Unlock()
	for _, l := range early {
		if l.kind == c.provider.Describe().Kind {
			continue
		}
		if err := c.load(ctx, l.image); err != nil && ctx.Err() == nil {
			e.Logger.Warn("images are missing in the cluster that took another's place", "cluster", c.name, "images",
				l.image.References, "error", err)
		}
	}
}

func (c *runningCluster) load(ctx context.Context, image cluster.Image) error {
	if d := c.provider.Describe(); image.Archive == "" && !d.Simulated && !d.Local {
		return cluster.ErrNeedsArchive
	}
	return c.provider.LoadImage(ctx, image)
}

func await(ctx context.Context, o *once) error {
	select {
	case <-o.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// runningClusters are the clusters of an environment.
type runningClusters []*runningCluster

// named returns the cluster of that name; nil for none.
func (all runningClusters) named(name string) *runningCluster {
	for _, c := range all {
		if c.name == name {
			return c
		}
	}
	return nil
}

func (all runningClusters) names() []string {
	names := make([]string, 0, len(all))
	for _, c := range all {
		names = append(names, c.name)
	}
	return names
}

// describe returns the clusters as user interfaces see them.
func (all runningClusters) describe() []*deckv1.Cluster {
	described := make([]*deckv1.Cluster, 0, len(all))
	for _, c := range all {
		d := c.provider.Describe()
		described = append(described, &deckv1.Cluster{
			Name: c.name, Kind: string(d.Kind), Simulated: d.Simulated, LocalPods: d.Local, Kubeconfig: d.Kubeconfig,
		})
	}
	return described
}

func (e *Environment) deleteClusters(ctx context.Context) error {
	var failures []error
	for _, c := range e.clusters {
		failures = append(failures, c.provider.Delete(ctx))
	}
	if err := errors.Join(failures...); err != nil {
		return err
	}
	if e.Helper == nil {
		return nil
	}
	// An earlier run may have made others.
	return e.Helper.DeleteRecorded(ctx, e.Workspace)
}
