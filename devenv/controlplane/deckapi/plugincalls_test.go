// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

func TestEveryFieldOfACallReachesTheUser(t *testing.T) {
	t.Parallel()
	call := &agentv1.PluginCall{
		Id: "a-1", StartedAt: timestamppb.Now(), Direction: agentv1.PluginCall_DIRECTION_TO_PIPED, Plugin: "b",
		Method: "c", Build: "d", DeploymentId: "e", StageId: "f", StageName: "g", Duration: durationpb.New(1),
		Code: "h", Detail: "i",
		RequestBytes: 1, ResponseBytes: 2, Failed: true, Streamed: true, Request: []byte("j"), Response: []byte("k"),
		RequestJson: "l", ResponseJson: "m", RequestClipped: true, ResponseClipped: true, Rerun: true,
	}
	fields := call.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		require.True(t, call.ProtoReflect().Has(fields.Get(i)), "the test leaves out %s", fields.Get(i).Name())
	}
	data, err := proto.Marshal(call) // both messages have the same numbers
	require.NoError(t, err)
	want := &deckv1.PluginCall{}
	require.NoError(t, proto.Unmarshal(data, want))
	want.PipedId = "piped-1"
	require.Empty(t, want.ProtoReflect().GetUnknown())
	require.True(t, proto.Equal(want, pluginCalls("piped-1", []*agentv1.PluginCall{call})[0]))
}
