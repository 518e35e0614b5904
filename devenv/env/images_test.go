// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	imagev1 "github.com/pipedeck/pipedeck/api/image/v1"
	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/none"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/chantest"
)

// program is a sample whose image is built from its sources.
type program struct{}

func (program) Walk(fn func(name string, content []byte) error) error {
	for name, content := range map[string]string{
		"web/app.pipecd.yaml": "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: web\n",
		"web/pod.yaml":        "image: pipedeck.dev/web:v1\n",
		"web/main.go":         "package main\n",
	} {
		if err := fn(name, []byte(content)); err != nil {
			return err
		}
	}
	return nil
}

// imageService reports what it is asked for.
type imageService struct {
	imagev1.UnimplementedImageServiceServer
	load LoadImage
	// loaded gets the end of each load.
	loaded chan error
	asked  chan *imagev1.ProvideRequest
	source chan string
}

func (s *imageService) Provide(
	req *imagev1.ProvideRequest, stream grpc.ServerStreamingServer[imagev1.ProvideResponse],
) error {
	source, err := os.ReadFile(filepath.Join(req.GetDirectory(), "web", "main.go"))
	if err != nil {
		return err
	}
	s.asked <- req
	s.source <- string(source)
	s.loaded <- s.load(stream.Context(), req.GetTarget(), cluster.Image{References: req.GetImages()})
	return nil
}

func TestTheImagesOfTheRepositoryAreProvidedAtTheStart(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "run")
	service := &imageService{loaded: make(chan error, 2), asked: make(chan *imagev1.ProvideRequest, 2),
		source: make(chan string, 2)}
	o := options(w)
	o.Repository = func() (*workspace.Repository, error) { return w.EnsureSample(program{}) }
	o.Clusters = append(o.Clusters, Cluster{"second",
		func(Hooks) (cluster.Provider, error) { return simulated{}, nil }})
	o.Images = func(load LoadImage, _ HasImage) imagev1.ImageServiceServer {
		service.load = load
		return service
	}
	r := up(t, o)
	ends := map[string]bool{}
	for range 2 {
		req := chantest.Receive(t, service.asked)
		require.Equal(t, []string{"pipedeck.dev/web:v1"}, req.GetImages())
		require.Equal(t, "package main\n", chantest.Receive(t, service.source))
		ends[req.GetTarget()] = true
	}
	require.Equal(t, map[string]bool{workspace.TargetName: true, "second": true}, ends, "every cluster gets them")
	var failures []error
	for range 2 {
		if err := chantest.Receive(t, service.loaded); err != nil {
			failures = append(failures, err)
		}
	}
	require.Len(t, failures, 1, "a simulated cluster is content with the name")
	require.ErrorIs(t, failures[0], cluster.ErrNeedsArchive)
	r.stop()
	require.NoError(t, chantest.Receive(t, r.ended), "an image that is missing does no harm to the environment")
	require.NoDirExists(t, w.Path("head"))
}

func TestImagesAreLoadedAgainWhenAnotherKindTakesTheClustersPlace(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "run")
	service := &imageService{loaded: make(chan error, 1), asked: make(chan *imagev1.ProvideRequest, 1),
		source: make(chan string, 1)}
	o := options(w)
	o.Repository = func() (*workspace.Repository, error) { return w.EnsureSample(program{}) }
	provider := &replaced{fails: make(chan struct{}), loads: make(chan cluster.Kind, 2)}
	o.Clusters[0].New = func(hooks Hooks) (cluster.Provider, error) {
		provider.hooks = hooks
		return provider, nil
	}
	o.Images = func(load LoadImage, _ HasImage) imagev1.ImageServiceServer {
		service.load = load
		return service
	}
	up(t, o)
	require.NoError(t, chantest.Receive(t, service.loaded))
	require.Equal(t, cluster.InDocker, chantest.Receive(t, provider.loads))
	close(provider.fails)
	require.Equal(t, cluster.Embedded, chantest.Receive(t, provider.loads))
}

// replaced takes images as kind, fails as that, and becomes ready as another kind.
type replaced struct {
	none.Provider
	hooks Hooks
	fails chan struct{}
	loads chan cluster.Kind
	other atomic.Bool
}

func (r *replaced) Describe() cluster.Description {
	if r.other.Load() {
		return cluster.Description{Kind: cluster.Embedded, Simulated: true}
	}
	return cluster.Description{Kind: cluster.InDocker, Simulated: true}
}

func (r *replaced) Run(ctx context.Context, progress cluster.Progress, ready func(string)) error {
	r.hooks.TakesImages()
	select {
	case <-r.fails:
	case <-ctx.Done():
		return nil
	}
	r.other.Store(true)
	return r.Provider.Run(ctx, progress, ready)
}

func (r *replaced) LoadImage(context.Context, cluster.Image) error {
	r.loads <- r.Describe().Kind
	return nil
}

// simulated takes every image.
type simulated struct{ none.Provider }

func (simulated) Describe() cluster.Description {
	return cluster.Description{Kind: cluster.Embedded, Simulated: true}
}

func (simulated) LoadImage(context.Context, cluster.Image) error { return nil }
