// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/terraform/config"
	"github.com/pipedeck/pipedeck/plugins/terraform/session"
)

type previewRequest = sdk.PlanPreviewRequest[config.Plugin, config.Target, config.Application]

var _ sdk.PlanPreviewPlugin[config.Plugin, config.Target, config.Application] = (*plugin)(nil)

// maxPreviewed bounds the changes as data of all deploy targets, in bytes: a part of what piped takes.
const maxPreviewed = 192 << 10

// GetPlanPreview makes the plan of a commit at each deploy target.
func (p *plugin) GetPlanPreview(ctx context.Context, req *previewRequest) ([]sdk.PlanPreview, error) {
	var previews []sdk.PlanPreview
	for _, target := range req.Targets {
		source, done, err := own(req.Target)
		if err != nil {
			return nil, err
		}
		preview := sdk.PlanPreview{Target: target.Name}
		l := look{use: "preview", applicationID: req.ApplicationID, source: source, target: target}
		err = p.look(ctx, l, func(plan *session.Plan) error {
			preview.Summary, preview.NoChange = plan.Changes.Summary(), plan.Changes.Empty()
			if !preview.NoChange {
				preview.Details, preview.Language = plan.Changes.Diff(), "diff"
			}
			data, err := json.Marshal(plan.Changes.Document(target.Name, maxPreviewed/len(req.Targets)))
			preview.Changes = data
			return err
		})
		done()
		if err != nil {
			return nil, atLookTarget(req.Targets, target, err)
		}
		previews = append(previews, preview)
	}
	return previews, nil
}
