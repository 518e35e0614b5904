// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package portforward

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	provider "github.com/pipedeck/pipedeck/devenv/cluster"
)

// addressesAnnotation is what a cluster on this machine writes on a Service, by port, and on a route, by host: where it
// answers, as host:port.
const addressesAnnotation = "pipedeck.dev/addresses"

// simulatedAnnotation is "true" on a Service of such a cluster whose ready pods all run nothing.
const simulatedAnnotation = "pipedeck.dev/simulated"

// ErrSimulated is in the error of Open for an application whose pods are all simulated.
var ErrSimulated = provider.ErrSimulated

// routeResources are what such a cluster answers for by host.
var routeResources = []schema.GroupVersionResource{
	{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"},
	{Group: "gateway.networking.k8s.io", Version: "v1", Resource: "httproutes"},
	{Group: "networking.istio.io", Version: "v1", Resource: "virtualservices"},
}

// readAddresses reads the annotation; what cannot be read is none.
func readAddresses(annotations map[string]string) map[string]string {
	addresses := map[string]string{}
	if text := annotations[addressesAnnotation]; text != "" {
		_ = json.Unmarshal([]byte(text), &addresses)
	}
	return addresses
}

// publishedAt is where a Service's port answers; empty where the cluster does not say.
func publishedAt(annotations map[string]string, port int32) string {
	return readAddresses(annotations)[strconv.Itoa(int(port))]
}

// publishedAddress is the address that a user gets of a port that the cluster itself answers at.
func (c *cluster) publishedAddress(ctx context.Context, f found, applicationID string) Address {
	url := f.published
	if f.scheme != schemeNone {
		url = string(f.scheme) + "://" + url
	}
	detail := fmt.Sprintf("%s, port %s", f.source, f.port)
	if hosts := c.publishedHosts(ctx, applicationID); len(hosts) > 0 {
		detail += "; by route: " + strings.Join(hosts, ", ")
	}
	if len(f.others) > 0 {
		detail += " (--port also takes " + strings.Join(f.others, ", ") + ")"
	}
	return Address{URL: url, Detail: detail}
}

// publishedHosts are the addresses of the application's routes. Kinds that the cluster does not have have none.
func (c *cluster) publishedHosts(ctx context.Context, applicationID string) []string {
	hosts := map[string]bool{}
	for _, resource := range routeResources {
		list, err := c.objects.Resource(resource).List(ctx,
			metav1.ListOptions{LabelSelector: labelApplication + "=" + applicationID})
		if err != nil {
			continue
		}
		for _, object := range list.Items {
			for host, address := range readAddresses(object.GetAnnotations()) {
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
