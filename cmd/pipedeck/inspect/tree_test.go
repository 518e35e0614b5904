// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/document"
)

// withResources is an environment in which the example application has live resources.
func withResources(t *testing.T, resources ...*deckv1.Resource) (stateDir string) {
	t.Helper()
	return withChanged(t, func(*deckv1.Application) {}, resources...)
}

// withChanged is withResources for a changed application.
func withChanged(t *testing.T, change func(*deckv1.Application), resources ...*deckv1.Resource) (stateDir string) {
	t.Helper()
	server := decktest.Start(t)
	for _, one := range decktest.Running() {
		if app, is := one.(*deckv1.Application); is {
			app = proto.CloneOf(app)
			app.Resources = &deckv1.ResourceCounts{Total: uint32(len(resources))}
			change(app)
			one = app
		}
		server.Publish(one)
	}
	server.Resources("app-1", &deckv1.WatchResourcesResponse{Resources: resources, Complete: true})
	stateDir, _ = running(t, server)
	return stateDir
}

func TestATreeShowsWhatRunsBelowItsOwnerWithTheReason(t *testing.T) {
	t.Parallel()
	stateDir := withResources(t, decktest.Resources()...)
	code, stdout, stderr := command(t.Context(), stateDir, "tree", "hello")
	require.Zero(t, code, stderr)
	require.Regexp(t, `(?m)^Deployment hello-world +UNHEALTHY .*Ready: 1/2; not as in Git: spec\.replicas: 1 in .*
└─ ReplicaSet hello-world-7d4b9 +HEALTHY .*
   ├─ Pod hello-world-7d4b9-f00ba +HEALTHY .*
   └─ Pod hello-world-7d4b9-x2x4z +UNHEALTHY .*ImagePullBackOff`, stdout)
	require.Regexp(t, `(?m)^Service hello-world +UNHEALTHY +- +is missing in the cluster$`, stdout)

	code, stdout, stderr = command(t.Context(), stateDir, "tree", "hello-world", "-o", "json")
	require.Zero(t, code, stderr)
	var tree document.Resources
	clitest.Document(t, "resources", stdout, &tree)
	require.Len(t, tree.Resources, len(decktest.Resources()))
	require.Equal(t, "UNHEALTHY", tree.Resources[1].Health)

	code, stdout, _ = command(t.Context(), stateDir, "tree", "hello-world", "-o", "name")
	require.Zero(t, code)
	require.Contains(t, stdout, "pod/hello-world-7d4b9-x2x4z\n")
}

func TestATreeShowsHowAHookEnded(t *testing.T) {
	t.Parallel()
	hook := &deckv1.Resource{Id: "h", Kind: "Job", Name: "migrate", Namespace: "default",
		DeployTarget: "kubernetes/local", Health: deckv1.HealthStatus_HEALTH_STATUS_HEALTHY,
		HealthReason: "helm.sh/hook: pre-upgrade; it has failed"}
	code, stdout, stderr := command(t.Context(), withResources(t, hook), "tree", "hello-world")
	require.Zero(t, code, stderr)
	require.Regexp(t, `(?m)^Job migrate +HEALTHY .*helm\.sh/hook: pre-upgrade; it has failed$`, stdout)
}

func TestATreeThatNoPluginHasReportedIsNotEmptyButUnknown(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	app := proto.CloneOf(decktest.Application())
	app.Resources = nil
	server.Publish(decktest.Environment(), app)
	stateDir, _ := running(t, server)
	for _, name := range []string{"tree", "diff"} {
		code, stdout, stderr := command(t.Context(), stateDir, name, "hello-world", "-o", "json")
		require.Equal(t, exit.Failed, code)
		require.Empty(t, stdout)
		require.Contains(t, stderr, "the live resources of hello-world are not known")
		require.Contains(t, stderr, "next step: see pipedeck history")
	}
}
