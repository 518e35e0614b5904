// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
)

// headIs has piped say that a commit is the head of the branch. The application is the root of the repository.
func (f *fleet) headIs(c *commit) {
	f.t.Helper()
	source := f.source(c)
	files := maps.Clone(c.Files)
	files["app.pipecd.yaml"] = string(source.GetApplicationConfig())
	root := f.source(&commit{Hash: c.Hash, Files: files}).GetApplicationDirectory()
	data, err := json.Marshal(map[string]string{"commit": c.Hash, "directory": root})
	require.NoError(f.t, err)
	f.h.Piped.SetSharedMetadata("pipedeck/head", string(data))
}

// TestAPruneOfAnOlderCommitKeepsInEachClusterWhatTheHeadHasThere has the newer commit put an object back at one target.
func TestAPruneOfAnOlderCommitKeepsInEachClusterWhatTheHeadHasThere(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fleetTarget{name: "tokyo"}, fleetTarget{name: "lima"})
	f.plugin = "{input: {multiTargets: [{target: {name: tokyo}, manifests: [tokyo]}, " +
		"{target: {name: lima}, manifests: [lima]}]}}"
	one := &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"tokyo/a.yaml": configMap("a"), "tokyo/more.yaml": configMap("more"),
		"lima/a.yaml": configMap("a"), "lima/more.yaml": configMap("more"),
	}}
	lost := &commit{Hash: "aaaaaaa2", Files: maps.Clone(one.Files)}
	delete(lost.Files, "tokyo/more.yaml")
	delete(lost.Files, "lima/more.yaml")
	head := &commit{Hash: "aaaaaaa3", Files: maps.Clone(lost.Files)}
	head.Files["lima/more.yaml"] = configMap("more")
	f.succeeds("K8S_MULTI_SYNC", "", one, nil)
	uid := f.has("lima", configMaps, "more").GetUID()
	f.headIs(head)
	log, _ := f.succeeds("K8S_MULTI_SYNC", `{"prune": true}`, lost, one)
	require.Contains(t, log, "[lima] - ConfigMap "+f.namespace("lima")+"/more: kept, because the head of the branch "+
		"(commit aaaaaaa) has it in this application")
	require.Equal(t, uid, f.has("lima", configMaps, "more").GetUID(), log)
	require.NotContains(t, log, "Nothing to prune")
	require.Contains(t, log, "[tokyo] Pruned 1 resource")
	f.hasNot("tokyo", configMaps, "more")
}
