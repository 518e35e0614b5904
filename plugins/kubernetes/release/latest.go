// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"context"

	"helm.sh/helm/v4/pkg/release/common"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
)

// History is what the records say of a release. The zero History is that of a release without records.
type History struct {
	// Newest is the version of the newest record, Deployed that of the newest one whose rollout has succeeded.
	Newest, Deployed int
	// ByHelm is set when helm itself has deployed the release.
	ByHelm bool
}

// Read reads which records a release has, without what is in them. Who may not list them sees none.
func Read(ctx context.Context, c *cluster.Client, namespace, name string) (History, error) {
	records, err := list(ctx, c, namespace, labels.Set{"owner": "helm", "name": name})
	if apierrors.IsForbidden(err) { // nor could it write any
		return History{}, nil
	}
	return historyOf(records), err
}

func historyOf(records []stored) (h History) {
	for _, one := range records {
		h.Newest = max(h.Newest, one.version)
		switch common.Status(one.status) {
		case common.StatusDeployed:
			h.Deployed = max(h.Deployed, one.version)
			h.ByHelm = h.ByHelm || one.owner == ""
		case common.StatusSuperseded:
			h.ByHelm = h.ByHelm || one.owner == ""
		}
	}
	return h
}
