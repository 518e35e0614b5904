// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/api/plugin/planpreview"
)

func (a *app) preview(target, running *commit) (*planpreview.PlanPreviewResult, error) {
	a.t.Helper()
	resp, err := a.h.PlanPreview.GetPlanPreview(a.t.Context(), &planpreview.GetPlanPreviewRequest{
		PipedId: "piped-1", ApplicationId: a.id, ApplicationName: "demo", DeployTargets: []string{"local"},
		TargetDeploymentSource: a.source(target), RunningDeploymentSource: a.source(running),
	})
	if err != nil {
		return nil, err
	}
	require.Len(a.t, resp.GetResults(), 1)
	return resp.GetResults()[0], nil
}

func (a *app) previews(target, running *commit) (summary, details string) {
	a.t.Helper()
	result, err := a.preview(target, running)
	require.NoError(a.t, err)
	a.t.Log(result.GetSummary() + "\n" + string(result.GetDetails()))
	return result.GetSummary(), string(result.GetDetails())
}

const secretYAML = "apiVersion: v1\nkind: Secret\nmetadata: {name: login}\nstringData: {user: ann, password: "

func TestAPlanPreviewShowsWhatACommitWouldChangeInTheCluster(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	before := &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"web.yaml": deploymentYAML("web", "app:v1", 1, ""), "conf.yaml": configMap("conf", "v: '1'"),
		"service.yaml": serviceYAML,
		"login.yaml":   secretYAML + "hunter2}\n",
	}}
	summary, details := a.previews(before, nil)
	require.Equal(t, "4 added manifests, 0 changed manifests, 0 deleted manifests", summary)
	require.Contains(t, details, "+  password: '******'")
	require.NotContains(t, details, "pipecd.dev/commit-hash")
	_, err := a.live().Dynamic.Resource(deployments).Namespace(a.namespace).Get(t.Context(), "web", metav1.GetOptions{})
	require.Error(t, err, "nothing is created")

	a.succeeds("K8S_SYNC", "", before, nil)
	same := *before
	same.Hash = "aaaaaaa2"
	result, err := a.preview(&same, before)
	require.NoError(t, err)
	require.True(t, result.GetNoChange(), string(result.GetDetails()))
	version := a.get(deployments, "web").GetResourceVersion()

	after := &commit{Hash: "aaaaaaa3", Files: map[string]string{
		"web.yaml": deploymentYAML("web", "app:v2", 1, ""), "conf.yaml": configMap("conf", "v: '1'"),
		"login.yaml": secretYAML + "changed}\n", "more.yaml": configMap("more"),
	}}
	summary, details = a.previews(after, before)
	require.Equal(t, "1 added manifests, 2 changed manifests, 0 deleted manifests; 1 that are not in Git any more stay",
		summary)
	require.Contains(t, details, "-        image: app:v1\n+        image: app:v2\n")
	require.Contains(t, details, "Service "+a.namespace+"/web")
	require.Contains(t, details, "'****** (before)'")
	require.NotContains(t, details, "hunter2")
	require.NotContains(t, details, "aHVudGVyMg")
	require.Contains(t, details, `name="web", kind="Deployment", namespace="`+a.namespace+`", apiGroup="apps"`)

	a.settings += "}\n      quickSync: {prune: true"
	summary, details = a.previews(after, before)
	require.Equal(t, "1 added manifests, 2 changed manifests, 1 deleted manifests", summary)
	require.Contains(t, details, `kind="Service", namespace="`+a.namespace+`", apiGroup="" (deleted)`)
	require.Equal(t, version, a.get(deployments, "web").GetResourceVersion(), "nothing is changed")
	a.get(services, "web")
}

func TestAPlanPreviewShowsWhatADeploymentWouldUndoAndWhatTheClusterRefuses(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	c := &commit{Hash: "aaaaaaa1", Files: map[string]string{"web.yaml": deploymentYAML("web", "app:v1", 1, ""),
		"conf.yaml": configMap("conf", "v: '1'")}}
	a.succeeds("K8S_SYNC", "", c, nil)
	_, err := a.live().Dynamic.Resource(deployments).Namespace(a.namespace).Patch(t.Context(), "web",
		types.MergePatchType,
		[]byte(`{"spec":{"replicas":2}}`), metav1.PatchOptions{FieldManager: "editor"})
	require.NoError(t, err)
	_, details := a.previews(c, c)
	require.Contains(t, details, "-  replicas: 2\n+  replicas: 1\n")

	misspelt := &commit{Hash: "aaaaaaa2", Files: map[string]string{
		"web.yaml": deploymentYAML("web", "app:v1", 1, "") + "  replica: 3\n", "conf.yaml": configMap("conf", "v: 1"),
	}}
	_, err = a.preview(misspelt, c)
	require.Equal(t, codes.Internal, status.Code(err))
	require.ErrorContains(t, err, "the cluster would refuse the deployment")
	require.ErrorContains(t, err, "spec.replica: no such field")
	require.ErrorContains(t, err, "conf.yaml:4")
}

func TestAPlanPreviewShowsWhatMustBeReplacedAndTheNamespaceThatComes(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	before := &commit{Hash: "aaaaaaa1", Files: map[string]string{"web.yaml": deploymentYAML("web", "app:v1", 1, ""),
		"conf.yaml": configMap("conf", "v: '1'")}}
	_, details := a.previews(before, nil)
	require.Contains(t, details, "# the namespace "+a.namespace+" would be created (input.autoCreateNamespace)\n")

	a.succeeds("K8S_SYNC", "", before, nil)
	after := &commit{Hash: "aaaaaaa2", Files: map[string]string{
		"web.yaml":  strings.ReplaceAll(deploymentYAML("web", "app:v1", 1, ""), "app: web", "app: other"),
		"conf.yaml": configMap("conf", "v: '2'"),
	}}
	summary, details := a.previews(after, before)
	require.Equal(t, "0 added manifests, 2 changed manifests, 0 deleted manifests; 1 cannot be changed in place "+
		"and must be replaced", summary)
	require.NotContains(t, details, "would be created")
	require.Contains(t, details, "# the deployment would fail here: spec.selector.matchLabels.app: cannot be changed")
	require.Contains(t, details, "pipecd.dev/force-sync-by-replace")
	require.Contains(t, details, "-      app: web\n+      app: other\n")
	require.Contains(t, details, "-  v: \"1\"\n+  v: \"2\"\n", "the others are previewed nevertheless")

	after.Files["web.yaml"] = strings.Replace(after.Files["web.yaml"], "  name: web\n",
		"  name: web\n  annotations: {pipecd.dev/force-sync-by-replace: enabled}\n", 1)
	summary, details = a.previews(after, before)
	require.Equal(t, "0 added manifests, 2 changed manifests, 0 deleted manifests", summary)
	require.Contains(t, details, "# it would be deleted and created again\n")
}

func TestAPlanPreviewKnowsWhatTheDeploymentItselfBrings(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	crd := `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: wheels.` + a.namespace + `.example.com}
spec:
  group: ` + a.namespace + `.example.com
  scope: Namespaced
  names: {kind: Wheel, plural: wheels, singular: wheel}
  versions: [{name: v1, served: true, storage: true,
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`
	wheel := "apiVersion: " + a.namespace + ".example.com/v1\nkind: Wheel\nmetadata: {name: front}\n"
	summary, _ := a.previews(&commit{Hash: "aaaaaaa1", Files: map[string]string{"crd.yaml": crd, "wheel.yaml": wheel}},
		nil)
	require.Equal(t, "2 added manifests, 0 changed manifests, 0 deleted manifests", summary)
	_, err := a.preview(&commit{Hash: "aaaaaaa1", Files: map[string]string{"wheel.yaml": wheel}}, nil)
	require.ErrorContains(t, err, "the cluster does not know it")
}
