// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

// The ids that the commands have in the recordings.
const (
	cancellation  = "00000000-0000-4000-8000-000000000014"
	aliceApproval = "00000000-0000-4000-8000-000000000017"
	bobApproval   = "00000000-0000-4000-8000-000000000018"
)

// approve is two users who approve the stage that waits for them.
func approve(s *stage, m proto.Message) {
	if r := s.begins(m, "WAIT_APPROVAL"); r != nil {
		for id, user := range map[string]string{aliceApproval: "alice", bobApproval: "bob"} {
			c := s.newCommand(id, user, r)
			c.Type, c.StageId = model.Command_APPROVE_STAGE, r.GetStageId()
			c.ApproveStage = &model.Command_ApproveStage{DeploymentId: r.GetDeploymentId(), StageId: r.GetStageId()}
			s.plane.commands = append(s.plane.commands, c)
		}
	}
}

// cancel is a user who cancels the deployment during WAIT.
func cancel(s *stage, m proto.Message) {
	if r := s.begins(m, "WAIT"); r != nil {
		c := s.newCommand(cancellation, "carol", r)
		c.Type, c.CancelDeployment = model.Command_CANCEL_DEPLOYMENT,
			&model.Command_CancelDeployment{DeploymentId: r.GetDeploymentId()}
		s.plane.commands = append(s.plane.commands, c)
	}
}

// begins gives the report that a stage of this name runs.
func (s *stage) begins(m proto.Message, name string) *pipedservice.ReportStageStatusChangedRequest {
	r, is := m.(*pipedservice.ReportStageStatusChangedRequest)
	if !is || r.GetStatus() != model.StageStatus_STAGE_RUNNING || s.nameOf(r.GetStageId()) != name {
		return nil
	}
	return r
}

func (s *stage) newCommand(id, user string, r *pipedservice.ReportStageStatusChangedRequest) *model.Command {
	return &model.Command{
		Id: id, PipedId: s.pipedID, ApplicationId: s.plane.deployment(r.GetDeploymentId()).GetApplicationId(),
		DeploymentId: r.GetDeploymentId(),
		ProjectId:    "proj", Commander: user, CreatedAt: 1, UpdatedAt: 1,
	}
}

// askToSync is a user who asks for a deployment.
func askToSync(_ *testing.T, s *stage) {
	d := of[*pipedservice.CreateDeploymentRequest](s.recorded, "")[0].GetDeployment()
	s.plane.commands = []*model.Command{{
		Id: "sync", PipedId: s.pipedID, ApplicationId: d.GetApplicationId(), ProjectId: "proj",
		Commander: d.GetTrigger().GetCommander(), CreatedAt: 1, UpdatedAt: 1,
		Type:            model.Command_SYNC_APPLICATION,
		SyncApplication: &model.Command_SyncApplication{ApplicationId: d.GetApplicationId()},
	}}
}

// answered wants the command to be answered with the deployment that it has led to.
func answered(t *testing.T, s *stage) {
	t.Helper()
	answer := of[*pipedservice.ReportCommandHandledRequest](s.plane.calls, "")[0]
	require.Equal(t, model.CommandStatus_COMMAND_SUCCEEDED, answer.GetStatus())
	require.Equal(t, map[string]string{"TriggeredDeploymentID": s.plane.deployments[0].GetId()}, answer.GetMetadata())
}

// registerEvent is a user who registers an event, for which the agent makes the commit.
func registerEvent(t *testing.T, s *stage) {
	t.Helper()
	for _, c := range s.recorded {
		if r, is := c.response.(*pipedservice.ListEventsResponse); is {
			s.plane.events = append(s.plane.events, r.GetEvents()...)
		}
	}
	require.NotEmpty(t, s.plane.events)
	for _, e := range s.plane.events {
		e.CreatedAt = time.Now().Unix() // old events are skipped
	}
}
