// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package lookup

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"

	"k8s.io/client-go/discovery"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/helm"
)

// capabilities asks a cluster what it can do. A group whose own server does not answer is left out, as with Helm.
func capabilities(c *cluster.Client) (*helm.Capabilities, error) {
	c.Mapper.Reset() // what was installed since the last time counts
	version, err := c.Discovery.ServerVersion()
	if err != nil {
		return nil, fmt.Errorf("ask the cluster for its version: %w", err)
	}
	groups, lists, err := c.Discovery.ServerGroupsAndResources()
	var partial *discovery.ErrGroupDiscoveryFailed
	if err != nil && !errors.As(err, &partial) {
		return nil, fmt.Errorf("ask the cluster for its API versions: %w", err)
	}
	names := map[string]bool{}
	for _, group := range groups {
		for _, v := range group.Versions {
			names[v.GroupVersion] = true
		}
	}
	for _, list := range lists {
		for _, r := range list.APIResources {
			names[path.Join(list.GroupVersion, r.Kind)] = true
		}
	}
	return &helm.Capabilities{KubeVersion: version.GitVersion, Namespace: c.Namespace,
		APIVersions: slices.Sorted(maps.Keys(names))}, nil
}
