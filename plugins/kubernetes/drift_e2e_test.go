// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/plugin/livestate"
)

func TestTheFieldsOfADriftHaveThreeValuesInARealCluster(t *testing.T) {
	t.Parallel()
	a, c := newApp(t), webCommit()
	a.succeeds("K8S_SYNC", "", c, nil)
	a.becomes(c, "in sync", inSync)
	a.edit(deployments, "web", `{"spec":{"replicas":3}}`, "scale", "kubectl")
	a.edit(secrets, "keys", `{"stringData":{"password":"battery staple"}}`)
	state := a.becomes(c, "edited", func(r *livestate.GetLivestateResponse) bool {
		return strings.Contains(r.GetSyncState().GetReason(), "Secret") &&
			strings.Contains(r.GetSyncState().GetReason(), "spec.replicas")
	})
	newest := webCommit()
	newest.Hash = "aaaaaaa2"
	newest.Files["web.yaml"] = strings.ReplaceAll(newest.Files["web.yaml"], "example.com/web:1", "example.com/web:2")

	answer, err := livestate.NewLivestateDriftServiceClient(a.h.Conn).GetDrift(t.Context(), &livestate.GetDriftRequest{
		Livestate: &livestate.GetLivestateRequest{
			PipedId: "piped-1", ApplicationId: a.id, ApplicationName: "demo", DeploySource: a.source(c),
			DeployTargets: []string{"local"},
		},
		NewestSource: a.source(newest),
	})
	require.NoError(t, err)
	kinds := map[string]string{}
	for _, r := range state.GetApplicationLiveState().GetResources() {
		kinds[r.GetId()] = r.GetResourceType()
	}
	fields := map[string]*livestate.FieldDrift{}
	for _, r := range answer.GetResources() {
		for _, f := range r.GetFields() {
			fields[kinds[r.GetResourceId()]+" "+f.GetPath()] = f
		}
	}
	require.Len(t, fields, 3, "%v", fields)
	replicas := fields["Deployment spec.replicas"]
	require.Equal(t, []string{"2", "3", "2", "kubectl"}, []string{replicas.GetGitValue(), replicas.GetLiveValue(),
		replicas.GetAppliedValue(), replicas.GetWriter()})
	require.Equal(t, livestate.FieldDrift_CHANGE_LIVE, replicas.GetChange())
	image := fields["Deployment spec.template.spec.containers[main].image"]
	require.Equal(t, livestate.FieldDrift_CHANGE_GIT, image.GetChange(), "%v", fields)
	require.Equal(t, `"example.com/web:2"`, image.GetGitValue())
	require.Equal(t, `"example.com/web:1"`, image.GetLiveValue())
	password := fields["Secret data.password"]
	require.True(t, password.GetSecret())
	require.Equal(t, livestate.FieldDrift_CHANGE_LIVE, password.GetChange())
	for _, secret := range []string{"horse", "staple", "YmF0dGVyeSBzdGFwbGU", "Y29ycmVjdCBob3JzZQ"} {
		require.NotContains(t, answer.String(), secret)
	}
}
