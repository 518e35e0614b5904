// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"encoding/base64"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/pipedeck/pipedeck/api/plugin/livestate"
)

// keeper reads a file of the chart that keeps a password.
func keeper(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("helm", "testdata", "keeper", name))
	require.NoError(t, err)
	return string(data)
}

// keeperCommit is a commit with that chart, of its templates the one with the password and these.
func keeperCommit(t *testing.T, hash string, templates map[string]string) *commit {
	t.Helper()
	c := &commit{Hash: hash, Files: map[string]string{}}
	for _, name := range []string{"Chart.yaml", "templates/password.yaml"} {
		c.Files["chart/"+name] = keeper(t, name)
	}
	for name, text := range templates {
		c.Files["chart/templates/"+name] = text
	}
	return c
}

// at is the same files in another commit.
func at(hash string, c *commit) *commit { return &commit{Hash: hash, Files: maps.Clone(c.Files)} }

// passwordOf is the one that the chart has made up.
func passwordOf(a *app) string {
	a.t.Helper()
	text, found, err := unstructured.NestedString(a.get(secrets, "demo-password").Object, "data", "password")
	require.NoError(a.t, err)
	require.True(a.t, found)
	return text
}

func TestAPasswordThatAChartHasMadeUpIsKept(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.settings += ", helmChart: {path: chart}"
	one := keeperCommit(t, "aaaaaaa1", nil)
	a.succeeds("K8S_SYNC", "", one, nil)
	first := passwordOf(a)
	require.Len(t, first, 32)
	a.becomes(one, "in sync", inSync)

	a.nextDeployment() // another process, which has seen nothing
	require.True(t, inSync(a.livestate(one)), a.livestate(one).GetSyncState().GetReason())
	two := at("aaaaaaa2", one)
	summary, details := a.previews(two, one)
	require.Equal(t, "0 added manifests, 0 changed manifests, 0 deleted manifests", summary)
	require.Contains(t, details, "# Hidden: the values of Secrets that the chart looks up")
	a.succeeds("K8S_SYNC", `{"prune": true}`, two, one)
	require.Equal(t, first, passwordOf(a))
	a.becomes(two, "in sync", inSync)

	changed := base64.StdEncoding.EncodeToString([]byte("changed by a user"))
	a.edit(secrets, "demo-password", `{"data": {"password": "`+changed+`"}}`)
	a.becomes(two, "in sync", inSync) // a sync would keep it, too
	a.edit(secrets, "demo-password", `{"data": {"more": "`+changed+`"}}`)
	a.nextDeployment()
	a.succeeds("K8S_SYNC", "", at("aaaaaaa3", one), two)
	require.Equal(t, changed, passwordOf(a))
	require.NoError(t, a.live().Dynamic.Resource(secrets).Namespace(a.namespace).Delete(t.Context(), "demo-password",
		metav1.DeleteOptions{}))
	answer := a.becomes(at("aaaaaaa3", one), "out of sync", outOfSync)
	require.Contains(t, answer.GetSyncState().GetReason(), "is missing in the cluster")
}

func TestAChartThatRendersOtherwiseAfterItsDeploymentIsInSync(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.settings += ", helmChart: {path: chart}"
	c := keeperCommit(t, "aaaaaaa1", map[string]string{
		"count.yaml": `{{- $is := lookup "v1" "ConfigMap" .Release.Namespace "count" }}
apiVersion: v1
kind: ConfigMap
metadata: {name: count}
data: {n: "{{ if $is }}{{ add1 $is.data.n }}{{ else }}1{{ end }}", colour: blue}
`,
		"once.yaml": `{{- if not (lookup "v1" "ConfigMap" .Release.Namespace "once") }}
apiVersion: v1
kind: ConfigMap
metadata: {name: once}
{{- end }}
`,
		"made.yaml": `{apiVersion: v1, kind: Secret, metadata: {name: made},
  stringData: {token: "{{ randAlphaNum 24 }}"}}`})
	a.succeeds("K8S_SYNC", "", c, nil)
	a.becomes(c, "in sync", inSync)
	a.nextDeployment()
	require.True(t, inSync(a.livestate(c)), a.livestate(c).GetSyncState().GetReason())
	a.edit(configMaps, "count", `{"data": {"colour": "red"}}`)
	answer := a.becomes(c, "out of sync", outOfSync)
	require.Contains(t, answer.GetSyncState().GetReason(), `data.colour: "blue" in Git, "red" live`)
	require.NotContains(t, answer.GetSyncState().GetReason(), "data.n:")
	a.edit(configMaps, "count", `{"data": {"colour": "blue", "n": "7"}}`)
	answer = a.becomes(c, "out of sync in n", func(r *livestate.GetLivestateResponse) bool {
		return strings.Contains(r.GetSyncState().GetReason(), "data.n:")
	})
	require.NotContains(t, answer.GetSyncState().GetReason(), "data.colour")
}

func TestAChartSeesTheVersionsOfTheClusterUnlessItIsOffline(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	settings := a.settings
	a.settings = settings + ", helmChart: {path: chart}"
	c := keeperCommit(t, "aaaaaaa1", map[string]string{
		"able.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: able}
data:
  kube: {{ .Capabilities.KubeVersion.Version }}
  deployments: "{{ .Capabilities.APIVersions.Has "apps/v1/Deployment" }}"
  namespace: "{{ (lookup "v1" "Namespace" "" "default").metadata.name }}"
`})
	a.succeeds("K8S_SYNC", "", c, nil)
	able := func() map[string]any {
		data, _, _ := unstructured.NestedMap(a.get(configMaps, "able").Object, "data")
		return data
	}
	version, err := a.live().Discovery.ServerVersion()
	require.NoError(t, err)
	require.Equal(t, map[string]any{"kube": version.GitVersion, "deployments": "true", "namespace": "default"}, able())

	a.settings = settings + ", helmChart: {path: chart}, helmOptions: {offline: true}"
	offline := at("aaaaaaa2", c)
	offline.Files["chart/templates/able.yaml"] = strings.ReplaceAll(c.Files["chart/templates/able.yaml"],
		`(lookup "v1" "Namespace" "" "default").metadata.name`, `len (lookup "v1" "Namespace" "" "")`)
	a.succeeds("K8S_SYNC", "", offline, c)
	require.Equal(t, map[string]any{"kube": "v1.36.0", "deployments": "false", "namespace": "0"}, able())
}

func TestAPreviewShowsNoSecretThatAChartLooksUp(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.settings += ", helmChart: {path: chart}"
	one := keeperCommit(t, "aaaaaaa1", nil)
	a.succeeds("K8S_SYNC", "", one, nil)
	plain, err := base64.StdEncoding.DecodeString(passwordOf(a))
	require.NoError(t, err)
	curious := at("aaaaaaa2", one)
	curious.Files["chart/templates/copy.yaml"] = `{{- $s := lookup "v1" "Secret" .Release.Namespace "demo-password" }}
apiVersion: v1
kind: ConfigMap
metadata: {name: copy}
data: {a: "{{ $s.data.password }}", b: "{{ $s.data.password | b64dec }}", c: "{{ $s.data.password | b64dec | upper }}"}
`
	summary, details := a.previews(curious, one)
	require.Equal(t, "1 added manifests, 0 changed manifests, 0 deleted manifests", summary)
	require.Contains(t, details, "hidden-")
	require.NotContains(t, details, string(plain))
	require.NotContains(t, details, passwordOf(a))
}

func TestWhatTheCredentialsMayNotReadIsNotFoundAndTheLogSaysSo(t *testing.T) {
	t.Parallel()
	admin := newApp(t)
	loaded, err := clientcmd.LoadFromFile(os.Getenv(kubeconfigEnv))
	require.NoError(t, err)
	loaded.AuthInfos[loaded.Contexts[loaded.CurrentContext].AuthInfo].Impersonate = "stranger"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, clientcmd.WriteToFile(*loaded, path))
	a := newAppAt(t, path)
	a.namespace = admin.namespace
	a.settings += ", helmChart: {path: chart}"
	c := keeperCommit(t, "aaaaaaa1", map[string]string{"seen.yaml": keeper(t, "templates/seen.yaml")})
	log := a.fails("K8S_SYNC", "", c, nil)
	require.Contains(t, log, "Not looked up: Secret "+a.namespace+"/demo-password, because the credentials of the "+
		"deploy target may not read it")
	require.Contains(t, log, "Not looked up: all of kind ConfigMap in namespace "+a.namespace)
}
