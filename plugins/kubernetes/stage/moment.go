// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"cmp"
	"context"
	"fmt"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/helm"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/lookup"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/phase"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/release"
)

// IsUpgrade reports whether a deployment is an upgrade for charts and hooks: the application was deployed successfully
// before.
func IsUpgrade(running *Source) bool { return OccasionOf(running) == phase.Upgrade }

// moment is when in the life of its release the chart of a source is rendered. Where records of releases are kept, the
// revision is the one that comes after them, or the one that is deployed; a release that helm itself has deployed is
// upgraded. Without records, an installation is revision 1 and every upgrade revision 2.
func moment(ctx context.Context, s *Source, how Loading, view *lookup.View) (helm.Moment, error) {
	m := helm.Moment{Upgrade: how.Upgrade}
	if view == nil || !s.App.Input.HelmOptions.ReleaseRecord {
		return m, nil
	}
	client, err := view.Client(ctx)
	if err != nil {
		if how.Needed {
			return m, err
		}
		return m, nil // charts are rendered without the cluster, too
	}
	known, err := release.Read(ctx, client, cmp.Or(s.App.Input.Namespace, client.Namespace), chartOf(s).Release)
	if err != nil {
		return m, fmt.Errorf("find the revision of the release: %w", err)
	}
	m.Upgrade = m.Upgrade || known.ByHelm && !how.Install
	m.Revision = known.Newest + 1
	if how.Deployed {
		m.Revision = known.Deployed
	}
	return m, nil
}
