// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// momentsCommit has a chart that makes up a password when it is installed, and more when it is upgraded.
func momentsCommit(hash, colour string) *commit {
	return &commit{Hash: hash, Files: map[string]string{
		"chart/Chart.yaml": "{apiVersion: v2, name: web, version: 1.2.3}",
		"chart/templates/all.yaml": `{{ if .Release.IsInstall }}
apiVersion: v1
kind: Secret
metadata: {name: demo-password, annotations: {helm.sh/resource-policy: keep}}
stringData: {password: "{{ randAlphaNum 24 }}"}
---
` + configMap("welcome", "a: b") + `
{{ else }}
` + configMap("upgraded", "a: b") + `
{{ end }}
---
` + configMap("conf", `revision: "{{ .Release.Revision }}"`, "colour: "+colour),
	}}
}

func TestAChartIsInstalledOnceAndThenUpgraded(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.settings += ", helmChart: {path: chart}"
	a.pipeline = "  planner: {}\n"
	revision := func() any { return a.get(configMaps, "conf").Object["data"].(map[string]any)["revision"] }
	one, two := momentsCommit("aaaaaaa1", "red"), momentsCommit("bbbbbbb2", "blue")
	summary, _ := a.previews(one, nil)
	require.Equal(t, "3 added manifests, 0 changed manifests, 0 deleted manifests", summary)
	a.succeeds("K8S_SYNC", `{"prune": true}`, one, nil)
	require.Equal(t, "1", revision())
	password := passwordOf(a)
	a.absent(configMaps, "upgraded")
	a.becomes(one, "in sync after the installation", inSync)
	own := a.live().Dynamic.Resource(configMaps).Namespace(a.namespace)
	require.NoError(t, own.Delete(t.Context(), "welcome", metav1.DeleteOptions{}))
	answer := a.becomes(one, "out of sync", outOfSync)
	require.Contains(t, answer.GetSyncState().GetReason(), "welcome is missing in the cluster")

	a.nextDeployment()
	_, details := a.previews(two, one)
	require.Contains(t, details, "upgraded")
	require.NotContains(t, details, "- Secret")
	log := a.succeeds("K8S_SYNC", `{"prune": true}`, two, one)
	require.Contains(t, log, "demo-password: kept, because")
	require.Equal(t, "2", revision())
	require.Equal(t, password, passwordOf(a))
	a.get(configMaps, "upgraded")
	a.becomes(two, "in sync after the upgrade", inSync)

	a.nextDeployment()
	three := momentsCommit("ccccccc3", "green")
	three.Files["chart/templates/web.yaml"] = deploymentYAML("web", "registry.invalid/x:1", 1, "")
	a.fails("K8S_SYNC", "", three, two)
	a.succeeds("K8S_ROLLBACK", "", three, two)
	require.Equal(t, password, passwordOf(a))
	a.becomes(two, "in sync after the rollback", inSync)
}

func TestWithoutPruneWhatAnInstallationHasMadeStays(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.settings += ", helmChart: {path: chart}"
	one, two := momentsCommit("aaaaaaa1", "red"), momentsCommit("bbbbbbb2", "blue")
	a.succeeds("K8S_SYNC", "", one, nil)
	a.nextDeployment()
	a.succeeds("K8S_SYNC", "", two, one)
	a.get(configMaps, "welcome")
	a.becomes(two, "in sync", inSync)
}

func TestTheRevisionGoesOnAfterTheRecordsOfTheRelease(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.settings += ", helmChart: {path: chart}, helmOptions: {releaseRecord: true}"
	revision := func() any { return a.get(configMaps, "conf").Object["data"].(map[string]any)["revision"] }
	one, two := momentsCommit("aaaaaaa1", "red"), momentsCommit("bbbbbbb2", "blue")
	a.succeeds("K8S_SYNC", "", one, nil)
	require.Equal(t, "1", revision())
	for i, want := range []string{"2", "3"} {
		a.nextDeployment()
		log := a.succeeds("K8S_SYNC", "", two, one)
		require.Contains(t, log, "Recorded as version "+want)
		require.Equal(t, want, revision(), i)
		a.becomes(two, "in sync", inSync)
	}
}

func TestGoingBackToTheCommitOfTheInstallationIsAnUpgrade(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string]string{
		"without records": "", "records": ", helmOptions: {releaseRecord: true}"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newApp(t)
			a.settings += ", helmChart: {path: chart}" + settings
			one, two := momentsCommit("aaaaaaa1", "red"), momentsCommit("bbbbbbb2", "blue")
			for _, c := range []*commit{one, two} { // an upgrade has nothing that an installation has not
				all := c.Files["chart/templates/all.yaml"]
				c.Files["chart/templates/all.yaml"] = strings.Replace(all, configMap("upgraded", "a: b"), "", 1)
			}
			a.succeeds("K8S_SYNC", `{"prune": true}`, one, nil)
			password := passwordOf(a)
			a.nextDeployment()
			a.succeeds("K8S_SYNC", `{"prune": true}`, two, one)
			a.absent(configMaps, "welcome")
			a.nextDeployment()
			a.succeeds("K8S_SYNC", `{"prune": true}`, one, two)
			require.Equal(t, password, passwordOf(a))
			answer := a.becomes(one, "in sync", inSync)
			require.Empty(t, answer.GetSyncState().GetReason())
		})
	}
}
