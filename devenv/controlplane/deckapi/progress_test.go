// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

func TestProgressAndTargetsComeFromMetadata(t *testing.T) {
	t.Parallel()
	require.True(t, proto.Equal(&deckv1.StageProgress{Done: 3, Total: 10, Text: "pods"},
		progress(`{"done": 3, "total": 10, "text": "pods\nand more"}`)))
	require.EqualValues(t, 10, progress(`{"done": 30, "total": 10}`).GetDone())
	for _, none := range []string{"", "3 of 10", `{"done": -1}`, `{"done": "3"}`,
		strings.Repeat(" ", maxReport) + `{}`} {
		require.Nil(t, progress(none), none)
	}
	targets := targetResults(
		`[{"name": "east", "status": "SUCCESS"}, {"name": "west", "status": "FAILURE", "detail": "no route"}, ` +
			`{"name": "x", "status": "?"}]`)
	require.Len(t, targets, 3)
	require.Equal(t, deckv1.StageStatus_STAGE_STATUS_SUCCESS, targets[0].GetStatus())
	require.Equal(t, deckv1.StageStatus_STAGE_STATUS_FAILURE, targets[1].GetStatus())
	require.Equal(t, "no route", targets[1].GetDetail())
	require.Equal(t, deckv1.StageStatus_STAGE_STATUS_UNSPECIFIED, targets[2].GetStatus())
	require.Len(t, targetResults("["+strings.Repeat(`{"name":"a"},`, 200)+`{"name":"a"}]`), maxTargets)
	require.Nil(t, targetResults(`{"name": "east"}`))
}

func TestAStageHasTheIdOfItsAuthorAndItsApprovals(t *testing.T) {
	t.Parallel()
	d := &model.Deployment{Status: model.DeploymentStatus_DEPLOYMENT_RUNNING}
	s := &model.PipelineStage{
		Id: "8f3c", Name: "WAIT_APPROVAL", Status: model.StageStatus_STAGE_RUNNING,
		AuthorizedOperators: []string{"alice", "bob", "carol"},
		Metadata: map[string]string{
			"pipedeck/stage-id": "gate", "approvals": `["alice"]`, "approvals-needed": "2",
		},
	}
	out := stage(d, s, store.StageTimes{}, nil)
	require.Equal(t, "gate", out.GetConfigId())
	require.Equal(t, []string{"alice"}, out.GetApprovedBy())
	require.EqualValues(t, 2, out.GetApprovalsNeeded())
	require.Equal(t, []string{"bob", "carol"}, out.GetApprovers())

	s.Metadata["approvals"], s.Metadata["approvals-needed"] = `{"of": "another plugin"}`, "-3"
	out = stage(d, s, store.StageTimes{}, nil)
	require.Empty(t, out.GetApprovedBy())
	require.Zero(t, out.GetApprovalsNeeded())
	require.Len(t, out.GetApprovers(), 3)
}

func FuzzProgress(f *testing.F) {
	f.Add(`{"done": 3, "total": 10, "text": "pods"}`)
	f.Add(`[{"name": "east", "status": "SUCCESS", "detail": "\xff"}]`)
	f.Fuzz(func(t *testing.T, text string) {
		if p := progress(text); p != nil &&
			(p.GetDone() < 0 || p.GetTotal() > 0 && p.GetDone() > p.GetTotal() || !utf8.ValidString(p.GetText())) {
			t.Errorf("%q became %v", text, p)
		}
		for _, target := range targetResults(text) {
			if !utf8.ValidString(target.GetName()) || strings.Contains(target.GetDetail(), "\n") {
				t.Errorf("%q became %v", text, target)
			}
		}
	})
}
