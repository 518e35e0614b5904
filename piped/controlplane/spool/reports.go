// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	ps "github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

// kind is what becomes of a report when the spool is full.
type kind int

const (
	// lasting reports are never dropped.
	lasting kind = iota
	// live logs come again with the next checkpoint.
	live
	// checkpoint logs come only once; a line takes their place.
	checkpoint
	// shortened is a checkpoint that a line has taken the place of.
	shortened
)

// service begins the full name of each method of PipedService.
const service = "/grpc.service.pipedservice.PipedService/"

// reports are the calls that are kept, with what becomes of them and an empty request of each. Their answers are empty.
// The other calls either need an answer or report a state that is reported again and would be out of date by then.
var reports = map[string]struct {
	kind    kind
	request proto.Message
}{
	"ReportDeploymentPlanned":               {lasting, &ps.ReportDeploymentPlannedRequest{}},
	"ReportDeploymentStatusChanged":         {lasting, &ps.ReportDeploymentStatusChangedRequest{}},
	"ReportDeploymentCompleted":             {lasting, &ps.ReportDeploymentCompletedRequest{}},
	"ReportStageStatusChanged":              {lasting, &ps.ReportStageStatusChangedRequest{}},
	"SaveDeploymentMetadata":                {lasting, &ps.SaveDeploymentMetadataRequest{}},
	"SaveDeploymentPluginMetadata":          {lasting, &ps.SaveDeploymentPluginMetadataRequest{}},
	"SaveDeploymentSharedMetadata":          {lasting, &ps.SaveDeploymentSharedMetadataRequest{}},
	"SaveStageMetadata":                     {lasting, &ps.SaveStageMetadataRequest{}},
	"ReportApplicationDeployingStatus":      {lasting, &ps.ReportApplicationDeployingStatusRequest{}},
	"ReportApplicationMostRecentDeployment": {lasting, &ps.ReportApplicationMostRecentDeploymentRequest{}},
	"ReportApplicationSyncState":            {lasting, &ps.ReportApplicationSyncStateRequest{}},
	"ReportCommandHandled":                  {lasting, &ps.ReportCommandHandledRequest{}},
	"ReportEventStatuses":                   {lasting, &ps.ReportEventStatusesRequest{}},
	"PutApplicationSharedObject":            {lasting, &ps.PutApplicationSharedObjectRequest{}},
	"PutLatestAnalysisResult":               {lasting, &ps.PutLatestAnalysisResultRequest{}},
	"ReportStageLogs":                       {live, &ps.ReportStageLogsRequest{}},
	"ReportStageLogsFromLastCheckpoint":     {checkpoint, &ps.ReportStageLogsFromLastCheckpointRequest{}},
}

// isReport reports whether calls of the name are kept.
func isReport(name string) bool {
	_, ok := reports[name]
	return ok
}

// contradicted are the calls whose answers a kept report would change.
var contradicted = map[string]bool{
	"CreateDeployment":                   true,
	"CreateDeploymentChain":              true,
	"GetApplicationMostRecentDeployment": true,
	"GetDeployment":                      true,
	"GetLatestEvent":                     true,
	"InChainDeploymentPlannable":         true,
	"ListApplications":                   true,
	"ListEvents":                         true,
	"ListNotCompletedDeployments":        true,
	"ListUnhandledCommands":              true,
}

// stageLog is one attempt's log of a stage.
type stageLog struct {
	deployment, stage string
	attempt           int32
}

type logReport interface {
	GetDeploymentId() string
	GetStageId() string
	GetRetriedCount() int32
}

func logOf(request proto.Message) stageLog {
	r, ok := request.(logReport)
	if !ok {
		return stageLog{}
	}
	return stageLog{r.GetDeploymentId(), r.GetStageId(), r.GetRetriedCount()}
}

// deploymentOf is empty for a report that is of none.
func deploymentOf(request proto.Message) string {
	r, ok := request.(interface{ GetDeploymentId() string })
	if !ok {
		return ""
	}
	return r.GetDeploymentId()
}

// leftOut is what stands in a log in place of the entries that the spool had no room for. The number is the least: it
// is not raised where there is no room for another digit, nor on the way to the control plane.
const leftOut = "Log entries left out here: at least %d, because the control plane was away for so long that there " +
	"was no more room for them"

// shorten puts a line in the place of the blocks of a checkpoint.
func shorten(r *ps.ReportStageLogsFromLastCheckpointRequest) *ps.ReportStageLogsFromLastCheckpointRequest {
	text := fmt.Sprintf(leftOut, len(r.GetBlocks()))
	note := &model.LogBlock{Index: 1, Log: text, Severity: model.LogSeverity_ERROR}
	if blocks := r.GetBlocks(); len(blocks) > 0 {
		note.Index, note.CreatedAt = blocks[0].GetIndex(), blocks[0].GetCreatedAt()
	}
	return &ps.ReportStageLogsFromLastCheckpointRequest{
		DeploymentId: r.GetDeploymentId(), StageId: r.GetStageId(), RetriedCount: r.GetRetriedCount(),
		Blocks: []*model.LogBlock{note}, Completed: r.GetCompleted(),
	}
}

// countLeftOut reads the number of a shortened checkpoint. It distinguishes one from others, also after a restart.
func countLeftOut(request proto.Message) (entries int, shortened bool) {
	r, ok := request.(*ps.ReportStageLogsFromLastCheckpointRequest)
	if !ok || len(r.GetBlocks()) != 1 {
		return 0, false
	}
	text := r.GetBlocks()[0].GetLog()
	if _, err := fmt.Sscanf(text, leftOut, &entries); err != nil {
		return 0, false
	}
	return entries, text == fmt.Sprintf(leftOut, entries)
}

// newRequest creates an empty request of a call that is kept.
func newRequest(name string) (proto.Message, error) {
	r, ok := reports[name]
	if !ok {
		return nil, fmt.Errorf("%q is not a report that is kept", name)
	}
	return r.request.ProtoReflect().New().Interface(), nil
}
