// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"context"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

// maxVersions bounds the versions of a deployment: it has to fit into a message, and no one reads more.
const maxVersions = 1000

// versions is what all plugins together bring out, and for the summary how many are left out. PipeCD v1: a plugin's
// error is ignored, and with no version at all there is one called "unknown". An addition: FailedPrecondition says that
// the deployment cannot succeed as it is configured.
func (p *Planner) versions(
	ctx context.Context, plugins []applicationPlugin, d *model.Deployment, sources *sources,
) ([]*model.ArtifactVersion, string, error) {
	seen := map[string]bool{} // by their bytes
	var all []*model.ArtifactVersion
	left := 0
	for _, plugin := range plugins {
		response, err := plugin.Deployment().DetermineVersions(
			ctx, &deployment.DetermineVersionsRequest{Input: planInput(d, sources)},
		)
		switch {
		case err == nil:
		case quarantined(err):
			return nil, "", err
		case status.Code(err) == codes.FailedPrecondition:
			return nil, "", fmt.Errorf("plugin %s: %s", plugin.Name(), status.Convert(err).Message())
		case died(err), ctx.Err() != nil:
			return nil, "", err
		default:
			p.options.Logger.Warn(
				"a plugin could not determine the versions", "plugin", plugin.Name(), "deployment", d.GetId(), "error",
				err,
			)
			continue
		}
		for _, v := range response.GetVersions() {
			data, err := proto.MarshalOptions{Deterministic: true}.Marshal(v)
			if err != nil {
				return nil, "", fmt.Errorf("a version of plugin %s: %w", plugin.Name(), err)
			}
			if seen[string(data)] {
				continue
			}
			seen[string(data)] = true
			if len(all) < maxVersions {
				all = append(all, v)
			} else {
				left++
			}
		}
	}
	if len(all) == 0 {
		all = append(all, &model.ArtifactVersion{Version: "unknown"})
	}
	if left == 0 {
		return all, "", nil
	}
	return all, fmt.Sprintf(" (%d more versions are not shown: a deployment has at most %d)", left, maxVersions), nil
}
