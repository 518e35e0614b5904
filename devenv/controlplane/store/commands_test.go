// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

func syncCommand() *model.Command {
	return &model.Command{PipedId: piped, Type: model.Command_SYNC_APPLICATION, ApplicationId: "a"}
}

func TestCommandsWithoutAnswerTimeOut(t *testing.T) {
	t.Parallel()
	s, c := newStore(store.Limits{})
	importApplication(s, "a", nil)
	run(t, s, "d", "a")
	id, err := s.Commands.Add(&model.Command{PipedId: piped, Type: model.Command_CANCEL_DEPLOYMENT, DeploymentId: "d"})
	require.NoError(t, err)
	c.advance(time.Hour)
	finish(t, s, "d", model.DeploymentStatus_DEPLOYMENT_SUCCESS)
	require.Len(t, s.Commands.Waiting(piped), 1, "piped answers a little after the end")
	c.advance(2 * time.Minute)
	require.Empty(t, s.Commands.Waiting(piped))
	command, _, err := s.Commands.Get(id)
	require.NoError(t, err)
	require.Equal(t, model.CommandStatus_COMMAND_TIMEOUT, command.GetStatus())
}

func TestCommandsAreBounded(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{WaitingCommands: 2, HandledCommands: 3, OutputBytes: 10})
	var ids []string
	for range 5 {
		id, err := s.Commands.Add(syncCommand())
		require.NoError(t, err)
		require.NoError(t, s.Commands.ReportHandled(piped,
			store.HandledCommand{ID: id, Status: model.CommandStatus_COMMAND_SUCCEEDED, Output: []byte("1234")}))
		ids = append(ids, id)
	}
	for i, id := range ids {
		_, output, err := s.Commands.Get(id)
		if i < 3 {
			requireCode(t, codes.NotFound, err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, "1234", string(output))
	}
	for range 2 {
		_, err := s.Commands.Add(syncCommand())
		require.NoError(t, err)
	}
	_, err := s.Commands.Add(syncCommand())
	requireCode(t, codes.ResourceExhausted, err)
}

func TestTheFirstAnswerToACommandCounts(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	s.Pipeds.Add("other", "p2", "", store.KeyHash{})
	id, err := s.Commands.Add(syncCommand())
	require.NoError(t, err)
	requireCode(t, codes.PermissionDenied,
		s.Commands.ReportHandled("other", store.HandledCommand{ID: id, Status: model.CommandStatus_COMMAND_FAILED}))
	requireCode(t, codes.NotFound, s.Commands.ReportHandled(piped, store.HandledCommand{ID: "nope"}))
	require.NoError(t, s.Commands.ReportHandled(piped,
		store.HandledCommand{ID: id, Status: model.CommandStatus_COMMAND_SUCCEEDED,
			Metadata: map[string]string{"k": "v"}}))
	require.NoError(t, s.Commands.ReportHandled(piped,
		store.HandledCommand{ID: id, Status: model.CommandStatus_COMMAND_FAILED}))
	c, _, err := s.Commands.Get(id)
	require.NoError(t, err)
	require.Equal(t, model.CommandStatus_COMMAND_SUCCEEDED, c.GetStatus())
	require.Equal(t, "v", c.GetMetadata()["k"])
}
