// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/apiserver"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/kubelet"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/kubeletapi"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/pki"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/programs"
)

// node is the one node of the cluster: the kubelet and its API, and the network of pods that run.
type node struct {
	kubelet *kubelet.Kubelet
	api     *kubeletapi.Server
	// network is nil where all pods are simulated.
	network *network
}

// newNode registers what the node needs with the shared informers, which the caller starts.
func newNode(
	config Config, client kubernetes.Interface, restConfig *rest.Config, shared informers.SharedInformerFactory,
	files pki.Files,
) (*node, error) {
	var network *network
	if config.Programs != "" {
		var err error
		if network, err = newNetwork(config, client, restConfig, shared); err != nil {
			return nil, err
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the kubelet's API: %w", err)
	}
	settings := kubelet.Config{
		NodeName: config.NodeName, Version: apiserver.Version(), Client: client, Informers: shared,
		APIPort: int32(listener.Addr().(*net.TCPAddr).Port), Clock: clock.RealClock{},
		PodsDir: filepath.Join(config.DataDir, "pods"), VolumesDir: filepath.Join(config.DataDir, volumesDir),
	}
	if config.Programs != "" {
		settings.Programs, settings.Services = programs.Open(config.Programs), network.services
	}
	pods, err := kubelet.New(settings)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	if network != nil {
		network.attach(pods)
	}
	api := kubeletapi.Config{Listener: listener, Files: files, Pods: shared.Core().V1().Pods().Lister()}
	if local := pods.Local(); local != nil {
		api.Containers, api.Addresses = local, local
	}
	return &node{kubelet: pods, api: kubeletapi.New(api), network: network}, nil
}

// run runs all parts until ctx ends or one of them fails. ready is called once pods are looked after.
func (n *node) run(ctx context.Context, ready func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	parts := 1
	ended := make(chan error, 2)
	start := func(run func(context.Context) error) {
		go func() {
			ended <- run(ctx)
			cancel() // pods without an API, or without addresses, would look as if they hung
		}()
	}
	start(n.api.Run)
	defined := make(chan struct{})
	go func() {
		defer close(defined)
		if n.network != nil {
			n.network.routes.Define(ctx)
		}
	}()
	err := n.kubelet.Run(ctx, func() {
		<-defined // whoever deploys a route now finds its kind
		ready()
		if n.network != nil {
			parts++
			start(n.network.run)
		}
	})
	cancel()
	for range parts {
		err = errors.Join(err, <-ended)
	}
	return err
}
