// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"cmp"

	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/api/plugin/planpreview"
	"github.com/pipedeck/pipedeck/plugins/sdk/standin"
)

// applicationID is the id of the application in all requests.
func (s *suite) applicationID() string { return cmp.Or(s.options.ApplicationID, standin.ApplicationID) }

// request asks for a stage of the application.
func (s *suite) request(stage, id string) (*deployment.ExecuteStageRequest, error) {
	source, err := s.sourceFor()
	if err != nil {
		return nil, err
	}
	request := standin.ExecuteRequest(s.options.Settings.Name, s.targets(), stage, s.with())
	in := request.GetInput()
	in.Stage.Id, in.Deployment.Id, in.Deployment.ApplicationId = id, "deployment-of-"+id, s.applicationID()
	in.TargetDeploymentSource = source
	return request, nil
}

// liveRequest asks for the live state of the application at some deploy targets.
func (s *suite) liveRequest(source *common.DeploymentSource, targets []string) *livestate.GetLivestateRequest {
	return &livestate.GetLivestateRequest{PipedId: "piped-1", ApplicationId: s.applicationID(), ApplicationName: "demo",
		DeploySource: source, DeployTargets: targets}
}

// previewRequest asks what a deployment of target would change; running is nil when nothing is deployed.
func (s *suite) previewRequest(
	target, running *common.DeploymentSource, targets []string,
) *planpreview.GetPlanPreviewRequest {
	return &planpreview.GetPlanPreviewRequest{PipedId: "piped-1", ApplicationId: s.applicationID(),
		ApplicationName: "demo", DeployTargets: targets, TargetDeploymentSource: target,
		RunningDeploymentSource: running}
}
