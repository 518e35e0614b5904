// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package services

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/kubeapi"
)

// ErrNotPublished means that the cluster gives what is meant no address on this machine.
var ErrNotPublished = errors.New("the cluster gives it no address on this machine")

// Request says which port of which application is meant.
type Request struct {
	// Cluster names the deploy target, for messages.
	Cluster string
	// ApplicationID is what the application's objects are labelled with; Name is for messages, and the Service that is
	// preferred.
	ApplicationID, Name string
	// Port is a name or number, "SERVICE:PORT", or empty: the first port.
	Port string
}

// Address is where an application answers.
type Address struct {
	// URL is "http://127.0.0.1:PORT" or "https://…" where that is what is spoken, else host:port.
	URL string
	// Detail says what answers there.
	Detail string
}

const servicesPath = "/api/v1/services"

// routePaths are the kinds that such a cluster answers for by host.
var routePaths = []string{
	"/apis/networking.k8s.io/v1/ingresses",
	"/apis/gateway.networking.k8s.io/v1/httproutes",
	"/apis/networking.istio.io/v1/virtualservices",
}

// Open returns where an application answers on this machine by what the cluster publishes: ErrNotPublished where that
// is nothing, cluster.ErrSimulated where nothing runs that could answer.
func Open(ctx context.Context, api *kubeapi.Client, r Request) (Address, error) {
	owned := url.Values{"labelSelector": {LabelApplication + "=" + r.ApplicationID}}
	var list struct {
		Items []*Service `json:"items"`
	}
	if err := api.Get(ctx, servicesPath, owned, &list); err != nil {
		return Address{}, fmt.Errorf("list the services of %s in cluster %s: %w; see pipedeck status", r.Name,
			r.Cluster, err)
	}
	chosen, found, err := Choose(list.Items, r.Name, r.Port)
	switch {
	case err != nil:
		return Address{}, err
	case !found:
		return Address{}, ErrNotPublished
	case chosen.Service.IsSimulated():
		return Address{}, fmt.Errorf("%s: %w", chosen.Source(), cluster.ErrSimulated)
	}
	address := chosen.Service.published(chosen.Port)
	if address == "" {
		return Address{}, ErrNotPublished
	}
	detail := fmt.Sprintf("%s, port %s", chosen.Source(), chosen.PortName())
	if hosts := routes(ctx, api, owned); len(hosts) > 0 {
		detail += "; by route: " + strings.Join(hosts, ", ")
	}
	if len(chosen.Others) > 0 {
		detail += " (--port also takes " + strings.Join(chosen.Others, ", ") + ")"
	}
	return Address{URL: chosen.Port.Scheme().URL(address), Detail: detail}, nil
}

// routes are the addresses of the application's routes. Kinds that the cluster does not have have none.
func routes(ctx context.Context, api *kubeapi.Client, owned url.Values) []string {
	hosts := map[string]bool{}
	for _, path := range routePaths {
		var list struct {
			Items []struct {
				Meta Meta `json:"metadata"`
			} `json:"items"`
		}
		if err := api.Get(ctx, path, owned, &list); err != nil {
			continue
		}
		for _, object := range list.Items {
			for host, address := range object.Meta.addresses() {
				hosts[routeURL(host, address)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(hosts))
}

// routeURL is how a host is reached: browsers find names under localhost on their own.
func routeURL(host, address string) string {
	_, port, _ := strings.Cut(address, ":")
	switch {
	case host == "*":
		return "http://" + address
	case host == "localhost", strings.HasSuffix(host, ".localhost") && !strings.HasPrefix(host, "*"):
		return "http://" + host + ":" + port
	}
	return fmt.Sprintf("http://%s with the header Host: %s", address, host)
}
