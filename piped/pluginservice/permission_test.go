// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

// as is the context of a call over the link of a plugin, or over loopback for "".
func as(t *testing.T, plugin string) context.Context {
	t.Helper()
	return peer.NewContext(t.Context(), &peer.Peer{AuthInfo: caller{plugin: plugin}})
}

func TestPluginsOnlyTouchWhatIsInTheirHands(t *testing.T) {
	t.Parallel()
	registry := NewRegistry()
	s := &Server{options: Options{Registry: registry, Guarded: true}, guests: guests{count: map[string]int{}}}
	end := registry.Add(&model.Deployment{Id: "d"})
	s.Hand("mine", "d", "stage")
	s.Hand("planner", "d", "")
	s.Hand("guest", "d", "of-guest")

	log := func(stage string) any {
		return &pluginservice.ReportStageLogsRequest{DeploymentId: "d", StageId: stage}
	}
	read := &pluginservice.GetStageMetadataRequest{DeploymentId: "d", StageId: "stage"}
	tool := &pluginservice.InstallToolRequest{Name: "helm"}
	type question struct {
		plugin  string
		request any
		want    codes.Code
	}
	ask := func(name string, questions []question) {
		t.Helper()
		for i, q := range questions {
			require.Equal(
				t, q.want, status.Code(s.permit(as(t, q.plugin), q.request)), fmt.Sprint(name, ", question ", i),
			)
		}
	}
	ask("while it runs", []question{
		{"mine", log("stage"), codes.OK},
		{"mine", log("of-guest"), codes.PermissionDenied},
		{"mine", read, codes.OK},
		{"mine", &pluginservice.PutStageMetadataRequest{DeploymentId: "d", StageId: "stage"}, codes.OK},
		{"mine", &pluginservice.PutDeploymentPluginMetadataRequest{DeploymentId: "d", PluginName: "mine"}, codes.OK},
		{
			"mine", &pluginservice.PutDeploymentPluginMetadataRequest{DeploymentId: "d", PluginName: "guest"},
			codes.PermissionDenied,
		},
		{
			"mine", &pluginservice.GetApplicationSharedObjectRequest{ApplicationId: "a", PluginName: "guest"},
			codes.PermissionDenied,
		},
		{"mine", tool, codes.OK},
		{"planner", read, codes.OK},
		{"planner", log("stage"), codes.PermissionDenied},
		{"planner", &agentv1.WatchStageCommandsRequest{DeploymentId: "d", StageId: "stage"}, codes.PermissionDenied},
		{"stranger", read, codes.PermissionDenied},
		{"stranger", tool, codes.OK},
		{"", tool, codes.PermissionDenied},
		{"", log("of-guest"), codes.PermissionDenied},
	})
	release := s.Expect("guest")
	ask("while a plugin without a link runs", []question{
		{"", tool, codes.OK},
		{"", log("of-guest"), codes.OK},
		{"", log("stage"), codes.PermissionDenied},
		{
			"", &pluginservice.PutApplicationSharedObjectRequest{ApplicationId: "a", PluginName: "mine"},
			codes.PermissionDenied,
		},
	})
	release()
	ask("after it", []question{{"", log("of-guest"), codes.PermissionDenied}})

	end()
	ask("after its end", []question{
		{"mine", log("stage"), codes.OK},
		{"stranger", log("stage"), codes.PermissionDenied},
		{"mine", read, codes.OK}, // its handler knows no such deployment
	})
	for i := range maxEnded {
		registry.Add(&model.Deployment{Id: fmt.Sprint("later ", i)})()
	}
	ask("long after its end", []question{{"mine", log("stage"), codes.Unknown}})
	require.Len(t, registry.ended, maxEnded)
	require.Len(t, registry.order, maxEnded)
}

func TestWithoutAGuardEverybodyMayCall(t *testing.T) {
	t.Parallel()
	s := &Server{options: Options{Registry: NewRegistry()}}
	require.NoError(t, s.permit(t.Context(), &pluginservice.InstallToolRequest{}))
}
