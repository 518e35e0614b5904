// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v4/pkg/release/common"
	helmrelease "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage"
	"helm.sh/helm/v4/pkg/storage/driver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/clustertest"
)

// helmStorage is what helm's own commands read releases with.
func helmStorage(a *app) *storage.Storage {
	a.t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", clustertest.Kubeconfig(a.t))
	require.NoError(a.t, err)
	client, err := corev1.NewForConfig(cfg)
	require.NoError(a.t, err)
	return storage.Init(driver.NewSecrets(client.Secrets(a.namespace)))
}

// history is what `helm history` shows of the release: version, status and description.
func history(a *app) (lines []string) {
	a.t.Helper()
	found, err := helmStorage(a).History("demo")
	require.NoError(a.t, err)
	for _, one := range found {
		r, is := one.(*helmrelease.Release)
		require.True(a.t, is)
		lines = append(lines, fmt.Sprintf("%d %s %s", r.Version, r.Info.Status, r.Info.Description))
	}
	return lines
}

func releasesCommit(hash, colour string) *commit {
	return &commit{Hash: hash, Files: map[string]string{
		"chart/Chart.yaml":          "{apiVersion: v2, name: web, version: 1.2.3, appVersion: v1}",
		"chart/values.yaml":         "colour: blue\nsize: 3\n",
		"chart/templates/conf.yaml": configMap("conf", `colour: "{{ .Values.colour }}"`),
		"chart/templates/NOTES.txt": "Open {{ .Release.Name }}.",
		"values.yaml":               "colour: " + colour + "\n",
		"chart/templates/check.yaml": strings.Replace(hookJob, "pre-install,pre-upgrade",
			"post-delete", 1),
	}}
}

func TestHelmReadsTheRecordsOfReleases(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.settings += ", helmChart: {path: chart}, helmOptions: {valueFiles: [values.yaml], releaseRecord: true, " +
		"releaseHistory: 3}"
	one, two := releasesCommit("aaaaaaa1", "red"), releasesCommit("bbbbbbb2", "green")
	log := a.succeeds("K8S_SYNC", `{"prune": true}`, one, nil)
	require.Contains(t, log, "Recorded as version 1 of release demo in namespace "+a.namespace)
	a.nextDeployment()
	log = a.succeeds("K8S_SYNC", `{"prune": true}`, two, one)
	require.Contains(t, log, "Nothing to prune")
	require.Equal(t, []string{"1 superseded Deployed commit aaaaaaa", "2 deployed Deployed commit bbbbbbb"}, history(a))

	found, err := helmStorage(a).Deployed("demo")
	require.NoError(t, err)
	r, is := found.(*helmrelease.Release)
	require.True(t, is)
	require.Equal(t, a.namespace, r.Namespace)
	require.Equal(t, "web-1.2.3", r.Chart.Name()+"-"+r.Chart.Metadata.Version)
	require.Equal(t, map[string]any{"colour": "green"}, r.Config)
	require.Equal(t, map[string]any{"colour": "blue", "size": 3.0}, r.Chart.Values)
	require.Equal(t, "Open demo.", r.Info.Notes)
	require.Contains(t, r.Manifest, "# Source: chart/templates/conf.yaml")
	require.Contains(t, r.Manifest, "colour: green")
	require.NotContains(t, r.Manifest, "pipecd.dev")
	require.Len(t, r.Hooks, 1)
	require.Equal(t, []helmrelease.HookEvent{"post-delete"}, r.Hooks[0].Events)
	require.True(t, r.Info.FirstDeployed.Before(r.Info.LastDeployed))
	secret := a.get(secrets, "sh.helm.release.v1.demo.v2")
	require.Equal(t, "helm.sh/release.v1", secret.Object["type"])
	for label, want := range map[string]string{"owner": "helm", "name": "demo", "status": "deployed", "version": "2"} {
		require.Equal(t, want, secret.GetLabels()[label])
	}
	require.NotEmpty(t, secret.GetLabels()["modifiedAt"])

	a.becomes(two, "in sync", inSync)
	require.NotContains(t, a.livestate(two).String(), "sh.helm.release")
	summary, _ := a.previews(two, two)
	require.Equal(t, "0 added manifests, 0 changed manifests, 0 deleted manifests", summary)
}

func TestARecordSaysWhatFailedAndWhatWasRolledBack(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.settings += ", helmChart: {path: chart}, helmOptions: {releaseRecord: true, releaseHistory: 3}"
	one, bad := releasesCommit("aaaaaaa1", "red"), releasesCommit("bbbbbbb2", "red")
	bad.Files["chart/templates/web.yaml"] = deploymentYAML("web", "registry.invalid/x:1", 1, "")
	a.succeeds("K8S_SYNC", "", one, nil)
	a.nextDeployment()
	a.fails("K8S_SYNC", "", bad, one)
	lines := history(a)
	require.Len(t, lines, 2)
	require.Equal(t, "1 deployed Deployed commit aaaaaaa", lines[0])
	require.Contains(t, lines[1], "2 failed Failed at commit bbbbbbb: ")
	a.succeeds("K8S_ROLLBACK", "", bad, one)
	lines = history(a)
	require.Len(t, lines, 3)
	require.Equal(t, "1 superseded Deployed commit aaaaaaa", lines[0])
	require.Equal(t, "3 deployed Rolled back to commit aaaaaaa", lines[2])
	a.nextDeployment()
	a.succeeds("K8S_SYNC", "", one, one)
	lines = history(a)
	require.Len(t, lines, 3, "the oldest one has gone")
	require.Equal(t, "4 deployed Deployed commit aaaaaaa", lines[2])

	a.nextDeployment()
	log := a.succeeds("K8S_REMOVE", "", one, one)
	require.Contains(t, log, "Deleted 3 records of its release")
	_, err := helmStorage(a).History("demo")
	require.ErrorIs(t, err, driver.ErrReleaseNotFound)
}

func TestARecordGoesOnAfterThoseOfHelm(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.settings += ", helmChart: {path: chart}, helmOptions: {releaseRecord: true, releaseHistory: 1}"
	one := releasesCommit("aaaaaaa1", "red")
	a.succeeds("K8S_SYNC", "", one, nil) // for the namespace
	own := a.live().Dynamic.Resource(secrets).Namespace(a.namespace)
	require.NoError(t, own.Delete(t.Context(), "sh.helm.release.v1.demo.v1", metav1.DeleteOptions{}))
	require.NoError(t, helmStorage(a).Create(&helmrelease.Release{Name: "demo", Version: 7, Namespace: a.namespace,
		Info: &helmrelease.Info{Status: common.StatusDeployed, Description: "Install complete"}}))
	a.nextDeployment()
	a.succeeds("K8S_SYNC", "", one, one)
	a.nextDeployment()
	a.succeeds("K8S_SYNC", "", one, one)
	require.Equal(t, []string{"7 superseded Install complete", "9 deployed Deployed commit aaaaaaa"}, history(a))

	id := a.id
	a.id = "other-" + id
	log := a.succeeds("K8S_SYNC", "", one, nil)
	require.Contains(t, log, "is another application's ("+id+"): set input.helmOptions.releaseName")
	a.id = id
}
