// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
)

// Cluster is what charts see of a cluster.
type Cluster interface {
	Capabilities(ctx context.Context) (*Capabilities, error)
	// Lookup returns an object, or the list of all where the question has no name, as JSON; empty where there is none,
	// or where it may not be read.
	Lookup(ctx context.Context, q Question) ([]byte, error)
}

// Capabilities are what a cluster can do.
type Capabilities struct {
	// KubeVersion is the version of its API server, such as v1.36.0.
	KubeVersion string
	// APIVersions are its group/versions and group/version/Kinds, sorted.
	APIVersions []string
	// Namespace is that of a release without one.
	Namespace string
}

// Question is what a template looks up.
type Question struct{ APIVersion, Kind, Namespace, Name string }

// String is how messages write it: Secret shop/web, or all Secrets of shop.
func (q Question) String() string {
	switch {
	case q.Name == "" && q.Namespace == "":
		return "all of kind " + q.Kind
	case q.Name == "":
		return "all of kind " + q.Kind + " in namespace " + q.Namespace
	}
	return strings.TrimSpace(q.Kind + " " + strings.TrimPrefix(q.Namespace+"/"+q.Name, "/"))
}

// seen is what the charts of a request see without a lookup.
func (r *Request) seen(ctx context.Context) (*Capabilities, error) {
	if r.Cluster == nil {
		return &Capabilities{KubeVersion: cmp.Or(r.Options.KubeVersion, KubeVersion),
			APIVersions: append(slices.Clone(common.DefaultCapabilities.APIVersions), r.Options.APIVersions...)}, nil
	}
	live, err := r.Cluster.Capabilities(ctx)
	if err != nil {
		return nil, err
	}
	return &Capabilities{KubeVersion: cmp.Or(r.Options.KubeVersion, live.KubeVersion), Namespace: live.Namespace,
		APIVersions: append(slices.Clone(live.APIVersions), r.Options.APIVersions...)}, nil
}

// helm turns them into what templates get.
func (c *Capabilities) helm() (*common.Capabilities, error) {
	caps := common.DefaultCapabilities.Copy()
	parsed, err := common.ParseKubeVersion(c.KubeVersion)
	if err != nil {
		return nil, fmt.Errorf("input.helmOptions.kubeVersion: %q is not a version of Kubernetes such as v1.36.0",
			c.KubeVersion)
	}
	caps.KubeVersion, caps.APIVersions = *parsed, c.APIVersions
	return caps, nil
}
