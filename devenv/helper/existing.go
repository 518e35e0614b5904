// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helper

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	helperv1 "github.com/pipedeck/pipedeck/api/helper/v1"
	"github.com/pipedeck/pipedeck/devenv/cluster"
)

// Context is a context of the user's kubeconfig; see existing.Find.
type Context struct {
	// File is the kubeconfig; empty for those that kubectl reads.
	File string
	// Name is empty for the current context.
	Name string
	// Any is true when the context may look like one that is not for development.
	Any bool
}

func (c Context) message() *helperv1.Context {
	return &helperv1.Context{File: c.File, Name: c.Name, Any: c.Any}
}

// CheckContext returns why a context cannot be used: a *cluster.HintError.
func (h *Helper) CheckContext(ctx context.Context, c Context) error {
	return h.call(ctx, func(client helperv1.HelperServiceClient) error {
		_, err := client.CheckContext(ctx, &helperv1.CheckContextRequest{Context: c.message()})
		return err
	})
}

// Existing returns the provider of the cluster of a context; kubeconfig is the file that a copy is written to.
func (h *Helper) Existing(c Context, kubeconfig string) cluster.Provider {
	return &existingProvider{h, c, kubeconfig}
}

type existingProvider struct {
	helper     *Helper
	context    Context
	kubeconfig string
}

var _ cluster.Questions = (*existingProvider)(nil)

// Describe implements cluster.Provider.
func (p *existingProvider) Describe() cluster.Description {
	return cluster.Description{Kind: cluster.Existing, Kubeconfig: p.kubeconfig}
}

// Run implements cluster.Provider.
func (p *existingProvider) Run(ctx context.Context, progress cluster.Progress, ready func(string)) error {
	return p.helper.runAgain(ctx, progress, ready, func(events events) error {
		return p.helper.stream(ctx, events, func(
			ctx context.Context, client helperv1.HelperServiceClient,
		) (eventStream, error) {
			stream, err := client.RunExisting(ctx)
			if err == nil {
				err = stream.Send(&helperv1.RunExistingRequest{Context: p.context.message(), Kubeconfig: p.kubeconfig})
			}
			return stream, err
		})
	}, func() {})
}

// LoadImage implements cluster.Provider. A cluster that the user made by kind takes images.
func (p *existingProvider) LoadImage(ctx context.Context, image cluster.Image) error {
	return p.helper.load(ctx, image, &helperv1.LoadIntoKindRequest{
		Into: &helperv1.LoadIntoKindRequest_Context{Context: p.context.message()},
	})
}

// Delete implements cluster.Provider: it removes the copy of the kubeconfig. The cluster and what runs in it are the
// user's.
func (p *existingProvider) Delete(context.Context) error {
	if err := os.Remove(p.kubeconfig); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the copy of the kubeconfig: %w", err)
	}
	return nil
}

// Healthy implements cluster.Questions.
func (p *existingProvider) Healthy(ctx context.Context) error {
	_, err := p.ask(ctx, &helperv1.AskRequest{Kubeconfig: p.kubeconfig})
	return err
}

// Identity implements cluster.Questions.
func (p *existingProvider) Identity(ctx context.Context) (string, error) {
	return p.ask(ctx, &helperv1.AskRequest{Kubeconfig: p.kubeconfig, Identity: true})
}

func (p *existingProvider) ask(ctx context.Context, r *helperv1.AskRequest) (identity string, err error) {
	err = p.helper.call(ctx, func(client helperv1.HelperServiceClient) error {
		response, err := client.Ask(ctx, r)
		identity = response.GetIdentity()
		return err
	})
	return identity, err
}
