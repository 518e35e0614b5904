// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/relay"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/routes"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/services"
)

// network gives Services, and hosts of routes, addresses on this machine.
type network struct {
	services *services.Proxy
	routes   *routes.Controller
}

// newNetwork registers what the network needs with the shared informers, which the caller starts after attach.
func newNetwork(
	config Config, client kubernetes.Interface, restConfig *rest.Config, shared informers.SharedInformerFactory,
) (*network, error) {
	objects, err := dynamic.NewForConfig(restConfig)
	if err != nil {
		return nil, fmt.Errorf("create the routes' client: %w", err)
	}
	proxy, err := services.New(services.Config{
		Client: client, Informers: shared, APIServer: strings.TrimPrefix(restConfig.Host, "https://"),
		Clock: clock.RealClock{},
	})
	if err != nil {
		return nil, err
	}
	listener, err := relay.ListenFor("routes of "+config.DataDir, 0)
	if err != nil {
		return nil, err
	}
	controller, err := routes.New(routes.Config{
		Client: client, Dynamic: objects, Informers: shared, Services: proxy, Listener: listener,
		Clock: clock.RealClock{},
	})
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return &network{proxy, controller}, nil
}

// attach says where pods are.
func (n *network) attach(pods services.PodAddresses) {
	n.services.Attach(pods, n.routes.Router().ForService)
}

// run runs both until ctx ends or one of them fails.
func (n *network) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		n.services.Run(ctx)
	}()
	err := n.routes.Run(ctx)
	cancel()
	<-done
	return err
}
