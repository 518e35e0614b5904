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
	"k8s.io/utils/clock"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/apiserver"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/kubelet"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/kubeletapi"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/pki"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/programs"
)

// node is the one node of the cluster: the kubelet and its API.
type node struct {
	kubelet *kubelet.Kubelet
	api     *kubeletapi.Server
}

// newNode registers what the node needs with the shared informers, which the caller starts.
func newNode(
	config Config, client kubernetes.Interface, shared informers.SharedInformerFactory, files pki.Files,
) (*node, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the kubelet's API: %w", err)
	}
	settings := kubelet.Config{
		NodeName: config.NodeName, Version: apiserver.Version(), Client: client, Informers: shared,
		APIPort: int32(listener.Addr().(*net.TCPAddr).Port), Clock: clock.RealClock{},
		PodsDir: filepath.Join(config.DataDir, "pods"),
	}
	if config.Programs != "" {
		settings.Programs = programs.Open(config.Programs)
	}
	pods, err := kubelet.New(settings)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	api := kubeletapi.Config{Listener: listener, Files: files, Pods: shared.Core().V1().Pods().Lister()}
	if local := pods.Local(); local != nil {
		api.Containers, api.Addresses = local, local
	}
	return &node{pods, kubeletapi.New(api)}, nil
}

// run runs both until ctx ends or one of them fails. ready is called once pods are looked after.
func (n *node) run(ctx context.Context, ready func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	served := make(chan error, 1)
	go func() {
		served <- n.api.Run(ctx)
		cancel() // pods without an API would look as if they hung
	}()
	err := n.kubelet.Run(ctx, ready)
	cancel()
	return errors.Join(err, <-served)
}
