// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"fmt"
	"reflect"

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

// reports are the calls that are kept. Their answers are empty. What is left out either needs an answer or
// is a state that is reported again and would be out of date by then.
var reports = map[string]kind{
	"ReportDeploymentPlanned":               lasting,
	"ReportDeploymentStatusChanged":         lasting,
	"ReportDeploymentCompleted":             lasting,
	"ReportStageStatusChanged":              lasting,
	"SaveDeploymentMetadata":                lasting,
	"SaveDeploymentPluginMetadata":          lasting,
	"SaveDeploymentSharedMetadata":          lasting,
	"SaveStageMetadata":                     lasting,
	"ReportApplicationDeployingStatus":      lasting,
	"ReportApplicationMostRecentDeployment": lasting,
	"ReportApplicationSyncState":            lasting,
	"ReportCommandHandled":                  lasting,
	"ReportEventStatuses":                   lasting,
	"PutApplicationSharedObject":            lasting,
	"PutLatestAnalysisResult":               lasting,
	"ReportStageLogs":                       live,
	"ReportStageLogsFromLastCheckpoint":     checkpoint,
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

// leftOut is what stands in a log in place of what the spool had no room for.
const leftOut = "Lines are left out here: the control plane was away for so long that there was no more room for them"

// shorten puts a line in the place of the blocks of a checkpoint.
func shorten(r *ps.ReportStageLogsFromLastCheckpointRequest) *ps.ReportStageLogsFromLastCheckpointRequest {
	note := &model.LogBlock{Index: 1, Log: leftOut, Severity: model.LogSeverity_ERROR}
	if blocks := r.GetBlocks(); len(blocks) > 0 {
		note.Index, note.CreatedAt = blocks[0].GetIndex(), blocks[0].GetCreatedAt()
	}
	return &ps.ReportStageLogsFromLastCheckpointRequest{
		DeploymentId: r.GetDeploymentId(), StageId: r.GetStageId(), RetriedCount: r.GetRetriedCount(),
		Blocks: []*model.LogBlock{note}, Completed: r.GetCompleted(),
	}
}

// isShortened tells a shortened checkpoint from others, also after a restart.
func isShortened(request proto.Message) bool {
	r, ok := request.(*ps.ReportStageLogsFromLastCheckpointRequest)
	return ok && len(r.GetBlocks()) == 1 && r.GetBlocks()[0].GetLog() == leftOut
}

// newRequest makes an empty request of a call that is kept.
func newRequest(name string) (proto.Message, error) {
	if _, ok := reports[name]; !ok {
		return nil, fmt.Errorf("%q is no report that is kept", name)
	}
	method, _ := reflect.TypeFor[ps.PipedServiceClient]().MethodByName(name)
	return reflect.New(method.Type.In(1).Elem()).Interface().(proto.Message), nil
}
