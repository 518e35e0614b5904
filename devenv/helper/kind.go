// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helper

import (
	"context"
	"errors"
	"io"
	"time"

	helperv1 "github.com/pipedeck/pipedeck/api/helper/v1"
	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/kind/record"
	"github.com/pipedeck/pipedeck/devenv/process"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	// A program that ends more often than crashLimit within crashWindow is given up.
	crashLimit  = 3
	crashWindow = time.Minute
	// crashPause doubles with each recent end, up to longestPause.
	crashPause, longestPause = 200 * time.Millisecond, 10 * time.Second
)

// KindConfig places a kind cluster; see kind.Config.
type KindConfig struct {
	Environment, Cluster     string
	Dir, Kubeconfig, LogFile string
	NodeImage, File          string
	Export                   bool
	// TakesImages is called when LoadImage can be; may be nil.
	TakesImages func()
}

// Kind returns the provider of a kind cluster; nothing is started.
func (h *Helper) Kind(c KindConfig) cluster.Provider {
	if c.TakesImages == nil {
		c.TakesImages = func() {}
	}
	return &kindProvider{h, c}
}

type kindProvider struct {
	helper *Helper
	KindConfig
}

func (p *kindProvider) message() *helperv1.KindCluster {
	return &helperv1.KindCluster{
		Environment: p.Environment, Cluster: p.Cluster, Dir: p.Dir, Kubeconfig: p.Kubeconfig, LogFile: p.LogFile,
		NodeImage: p.NodeImage, File: p.File, Export: p.Export,
	}
}

// Describe implements cluster.Provider.
func (p *kindProvider) Describe() cluster.Description {
	return cluster.Description{Kind: cluster.InDocker, Kubeconfig: p.Kubeconfig}
}

// Run implements cluster.Provider. A program that ends is started again, and adopts the cluster.
func (p *kindProvider) Run(ctx context.Context, progress cluster.Progress, ready func(string)) error {
	return p.helper.runAgain(ctx, progress, ready, func(events events) error {
		return p.helper.stream(ctx, events, func(
			ctx context.Context, client helperv1.HelperServiceClient,
		) (eventStream, error) {
			stream, err := client.RunKind(ctx)
			if err == nil {
				err = stream.Send(&helperv1.RunKindRequest{Cluster: p.message()})
			}
			return stream, err
		})
	}, p.TakesImages)
}

// LoadImage implements cluster.Provider.
func (p *kindProvider) LoadImage(ctx context.Context, image cluster.Image) error {
	return p.helper.load(ctx, image, &helperv1.LoadIntoKindRequest{
		Into: &helperv1.LoadIntoKindRequest_Cluster{Cluster: p.message()},
	})
}

// Delete implements cluster.Provider. The program is not needed where there is no record of a cluster.
func (p *kindProvider) Delete(ctx context.Context) error {
	if !record.Recorded(p.Dir) {
		return record.RemoveFiles(p.Dir, p.Kubeconfig)
	}
	return p.helper.call(ctx, func(client helperv1.HelperServiceClient) error {
		_, err := client.DeleteKind(ctx, &helperv1.DeleteKindRequest{Cluster: p.message()})
		return err
	})
}

// DeleteRecorded deletes each kind cluster that an environment has a record of, in this run or an earlier one. The
// caller holds the environment's lock and has ended the clusters' Run.
func (h *Helper) DeleteRecorded(ctx context.Context, w *workspace.Workspace) error {
	directories, err := record.Directories(w)
	if err != nil {
		return err
	}
	var failures []error
	for name, dir := range directories {
		provider := h.Kind(KindConfig{Dir: dir, Kubeconfig: w.Kubeconfig(name)})
		failures = append(failures, provider.Delete(ctx))
	}
	return errors.Join(failures...)
}

func (h *Helper) load(ctx context.Context, image cluster.Image, request *helperv1.LoadIntoKindRequest) error {
	if image.Archive == "" {
		return cluster.ErrNeedsArchive
	}
	request.Archive, request.References = image.Archive, image.References
	return h.call(ctx, func(client helperv1.HelperServiceClient) error {
		_, err := client.LoadIntoKind(ctx, request)
		return err
	})
}

// events are what a provider reports while it runs.
type events struct {
	progress    cluster.Progress
	takesImages func()
	ready       func(detail string)
}

// eventStream is the client's end of a provider's Run.
type eventStream interface {
	Recv() (*helperv1.ClusterEvent, error)
	CloseSend() error
}

// runAgain calls run, and again when the program has ended unexpectedly.
func (h *Helper) runAgain(
	ctx context.Context, progress cluster.Progress, ready func(string), run func(events) error, takesImages func(),
) error {
	crashes := process.Crashes{Limit: crashLimit, Window: crashWindow, Pause: crashPause, Longest: longestPause}
	worked := func(detail string) { crashes.Ready(); ready(detail) }
	for {
		err := run(events{progress, takesImages, worked})
		var ended *endedError
		if ctx.Err() != nil || !errors.As(err, &ended) {
			return err
		}
		_, pause, giveUp := crashes.Ended(time.Now())
		if giveUp {
			return err
		}
		progress(Program+" has ended unexpectedly and is started again; the cluster is kept", 0, 0)
		if !clock.Sleep(ctx, pause) {
			return nil
		}
	}
}

// stream passes on what a provider reports until it has ended. The end of ctx asks it to end.
func (h *Helper) stream(ctx context.Context, to events,
	open func(context.Context, helperv1.HelperServiceClient) (eventStream, error)) error {
	if h.Compiled != nil {
		to.progress("waiting until "+Program+" is compiled", 0, 0)
	}
	r, err := h.acquire(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	defer h.release(r)
	whole, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stream, err := open(whole, r.client)
	if err != nil {
		return h.explain(whole, r, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = stream.CloseSend() })
	defer stop()
	for {
		event, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return h.explain(whole, r, err)
		}
		switch event := event.GetEvent().(type) {
		case *helperv1.ClusterEvent_Progress_:
			to.progress(event.Progress.GetDetail(), event.Progress.GetDone(), event.Progress.GetTotal())
		case *helperv1.ClusterEvent_TakesImages:
			to.takesImages()
		case *helperv1.ClusterEvent_Ready:
			to.ready(event.Ready)
		}
	}
}
