// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/controller-manager/pkg/informerfactory"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/usage"
)

// Config is what the controllers stand on.
type Config struct {
	Client *rest.Config
	// Informers is shared with the caller, who starts it, and again after New has returned.
	Informers informers.SharedInformerFactory
	// RootCA is the PEM of the API server's authority, given to every namespace and token.
	RootCA []byte
	// ServiceAccountKey is the file of the private key that signs service account tokens.
	ServiceAccountKey string
	// Meter is what autoscalers are told of the use of pods.
	Meter *usage.Meter
	// Simulated is set when no pod runs as processes.
	Simulated bool
}

// loop is one controller, or a part of one: run returns when its context has ended.
type loop struct {
	name string
	run  func(context.Context)
}

// Set is the constructed controllers.
type Set struct {
	loops            []loop
	metadata         metadatainformer.SharedInformerFactory
	informersStarted chan struct{}
}

// New constructs the controllers; their informers are registered with config.Informers. ctx is the one they are going
// to run with.
func New(ctx context.Context, config Config) (*Set, error) {
	client, err := kubernetes.NewForConfig(config.Client)
	if err != nil {
		return nil, fmt.Errorf("create the controllers' client: %w", err)
	}
	metadataClient, err := metadata.NewForConfig(config.Client)
	if err != nil {
		return nil, fmt.Errorf("create the controllers' metadata client: %w", err)
	}
	kinds := newKinds(client.Discovery())
	metadataInformers := metadatainformer.NewSharedInformerFactory(metadataClient, 0)
	started := make(chan struct{})

	maker := &maker{
		config: config, client: client, metadata: metadataClient, kinds: kinds, informers: config.Informers,
		all:     informerfactory.NewInformerFactory(config.Informers, metadataInformers),
		started: started,
	}
	loops := []loop{{"kinds", kinds.run}}
	problems := []error{kinds.watch(maker.all)}
	for _, make := range []func(context.Context) ([]loop, error){
		maker.serviceAccounts, maker.namespaces, maker.workloads, maker.batch, maker.network, maker.policy,
		maker.garbage, maker.quotas, maker.autoscaling, maker.absent,
	} {
		made, err := make(ctx)
		problems = append(problems, err)
		loops = append(loops, made...)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return &Set{loops: loops, metadata: metadataInformers, informersStarted: started}, nil
}

// Run runs the controllers until ctx ends and returns when they have stopped. The caller has started the shared
// informers.
func (s *Set) Run(ctx context.Context) {
	s.metadata.Start(ctx.Done())
	close(s.informersStarted)
	var running sync.WaitGroup
	for _, loop := range s.loops {
		running.Go(func() { loop.run(ctx) })
	}
	running.Wait()
}
