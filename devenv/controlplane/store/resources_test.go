// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
)

func TestTheWorstResourceExplainsAnUnhealthyApplication(t *testing.T) {
	t.Parallel()
	type health = model.ResourceState_HealthStatus
	resource := func(kind, name, parent string, is health, why string) *model.ResourceState {
		r := &model.ResourceState{Id: name, Name: name, ResourceType: kind, HealthStatus: is, HealthDescription: why,
			ResourceMetadata: map[string]string{"Namespace": "shop"}}
		if parent != "" {
			r.ParentIds = []string{parent}
		}
		return r
	}
	const bad, unknown, good = model.ResourceState_UNHEALTHY, model.ResourceState_UNKNOWN, model.ResourceState_HEALTHY
	web := resource("Deployment", "web", "", bad, "Ready: 1/2")
	set := resource("ReplicaSet", "web-1", "web", bad, "Available: 1/2")
	pod := resource("Pod", "web-1-a", "web-1", bad, "container main: ImagePullBackOff")
	well := resource("Pod", "web-1-b", "web-1", good, "")
	lost := resource("Service", "lost", "", bad, "is missing in the cluster")
	away := resource("ConfigMap", "away", "set", unknown, "its cluster could not be asked")
	kept := resource("StatefulSet", "db", "", good, "2 of 3 pods keep the old version")
	kept.ResourceMetadata[metadataNote] = kept.GetHealthDescription()
	for want, all := range map[string][]*model.ResourceState{
		"": {well, resource("Job", "hook", "", good, "it has succeeded")},
		"StatefulSet shop/db: 2 of 3 pods keep the old version (and 1 more)": {well, kept, kept},
		"Pod shop/web-1-a: container main: ImagePullBackOff (and 3 more)":    {web, set, pod, well, away, kept},
		"Service shop/lost is missing in the cluster (and 1 more)":           {away, lost, well},
		"ConfigMap shop/away: its cluster could not be asked":                {away},
		"Pod shop/mute is not healthy":                                       {resource("Pod", "mute", "", bad, "")},
	} {
		require.Equal(t, want, count(all, nil).Worst)
	}
	web.ParentIds = []string{"web"} // a circle
	web.HealthDescription = strings.Repeat("é", maxWorst)
	require.LessOrEqual(t, len(count([]*model.ResourceState{web}, nil).Worst), maxWorst+len("…"))
}

func TestAResourceThatOnlyGitHasChangedIsCountedAsDrifted(t *testing.T) {
	t.Parallel()
	all := []*model.ResourceState{
		{Id: "live", ResourceMetadata: map[string]string{MetadataDrift: "spec.replicas: 2 in Git, 3 live"}},
		{Id: "git"}, {Id: "same"}, {Id: "many"},
	}
	drifts := map[string]*livestate.ResourceDrift{
		"live": {Fields: []*livestate.FieldDrift{{Path: "spec.replicas"}}},
		"git":  {Fields: []*livestate.FieldDrift{{Path: "data.a"}}}, "same": {}, "many": {MoreFields: 60},
	}
	require.EqualValues(t, 3, count(all, drifts).Drifted)
	require.EqualValues(t, 1, count(all, nil).Drifted)
}
