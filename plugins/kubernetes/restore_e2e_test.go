// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	brokenAccount    = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: broken}\nnonsense: 1\n"
	brokenDeployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: broken}\nnonsense: 1\n"
	politeConf       = "apiVersion: v1\nkind: ConfigMap\n" +
		"metadata: {name: conf, annotations: {pipecd.dev/server-side-apply: \"true\"}}\ndata: {a: v2}\n"
)

// edited is an application with a ConfigMap, of which a user has changed a field since the commit that runs; another
// deployment begins.
func edited(t *testing.T) (*app, *commit) {
	t.Helper()
	a := newApp(t)
	running := &commit{Hash: "aaaaaaa1", Files: map[string]string{"conf.yaml": configMap("conf", "a: v1", "b: v1")}}
	a.succeeds("K8S_SYNC", "", running, nil)
	a.nextDeployment()
	a.patch("conf", `{"data": {"a": "theirs"}}`)
	return a, running
}

func (a *app) conf(key string) string {
	a.t.Helper()
	value, _, err := unstructured.NestedString(a.get(configMaps, "conf").Object, "data", key)
	require.NoError(a.t, err)
	return value
}

func (a *app) leavesTheirs(log string) {
	a.t.Helper()
	require.Contains(a.t, log, "ConfigMap "+a.namespace+"/conf: left as it is, because the failed deployment did "+
		"not change it and other managers have fields of it: data.a (of hand)")
	require.Equal(a.t, "theirs", a.conf("a"))
}

func TestARollbackLeavesTheFieldForWhichTheDeploymentWasRefused(t *testing.T) {
	t.Parallel()
	a, running := edited(t)
	target := &commit{Hash: "aaaaaaa2", Files: map[string]string{"conf.yaml": politeConf}}
	require.Contains(t, a.fails("K8S_SYNC", "", target, running), "data.a (of hand)")
	a.leavesTheirs(a.succeeds("K8S_ROLLBACK", "", target, running))
}

func TestARollbackForcesNothingThatTheFailedDeploymentHadNotReached(t *testing.T) {
	t.Parallel()
	for name, hash := range map[string]string{"another commit": "aaaaaaa2", "the same commit": "aaaaaaa1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, running := edited(t)
			target := &commit{Hash: hash, Files: map[string]string{"conf.yaml": configMap("conf", "a: v2"),
				"broken.yaml": brokenAccount}}
			a.fails("K8S_SYNC", "", target, running)
			a.leavesTheirs(a.succeeds("K8S_ROLLBACK", "", target, running))
		})
	}
}

func TestARollbackRestoresWhatTheFailedDeploymentChanged(t *testing.T) {
	t.Parallel()
	a, running := edited(t)
	target := &commit{Hash: "aaaaaaa2", Files: map[string]string{"conf.yaml": configMap("conf", "a: v2"),
		"broken.yaml": brokenDeployment}}
	a.fails("K8S_SYNC", "", target, running)
	require.Equal(t, "v2", a.conf("a"))
	a.succeeds("K8S_ROLLBACK", "", target, running)
	require.Equal(t, "v1", a.conf("a"))
	require.Equal(t, "v1", a.conf("b"))
}

func TestARollbackRefusesWhatTheFailedDeploymentWouldRefuse(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	running := &commit{Hash: "aaaaaaa1", Files: map[string]string{"conf.yaml": configMap("conf", "a: v1")}}
	target := &commit{Hash: "aaaaaaa2", Files: map[string]string{"conf.yaml": politeConf,
		"broken.yaml": brokenDeployment}}
	a.succeeds("K8S_SYNC", "", running, nil)
	a.nextDeployment()
	a.fails("K8S_SYNC", "", target, running)
	require.Equal(t, "v2", a.conf("a"))
	a.patch("conf", `{"data": {"a": "theirs"}}`)
	log := a.fails("K8S_ROLLBACK", "", target, running)
	require.Contains(t, log, "ConfigMap "+a.namespace+"/conf: other managers have fields of it: data.a (of hand)")
	require.Equal(t, "theirs", a.conf("a"))
}

func TestARollbackReplacesNothingThatTheFailedDeploymentHadNotReached(t *testing.T) {
	t.Parallel()
	for _, annotation := range []string{"pipecd.dev/sync-by-replace", "pipecd.dev/force-sync-by-replace"} {
		t.Run(annotation, func(t *testing.T) {
			t.Parallel()
			a := newApp(t)
			running := &commit{Hash: "aaaaaaa1", Files: map[string]string{"conf.yaml": annotated("conf",
				annotation+": enabled")}}
			a.succeeds("K8S_SYNC", "", running, nil)
			a.nextDeployment()
			a.patch("conf", `{"data": {"a": "theirs"}}`)
			uid := a.get(configMaps, "conf").GetUID()
			target := &commit{Hash: "aaaaaaa2", Files: map[string]string{"conf.yaml": running.Files["conf.yaml"],
				"broken.yaml": brokenAccount}}
			a.fails("K8S_SYNC", "", target, running)
			a.succeeds("K8S_ROLLBACK", "", target, running)
			require.Equal(t, "theirs", a.conf("a"))
			require.Equal(t, uid, a.get(configMaps, "conf").GetUID())
		})
	}
}

func TestARollbackLeavesWhatAnotherApplicationHasTaken(t *testing.T) {
	t.Parallel()
	a, running := edited(t)
	id := a.id
	a.id = "other-" + id
	a.succeeds("K8S_SYNC", "", &commit{Hash: "aaaaaaa9",
		Files: map[string]string{"conf.yaml": configMap("conf", "a: others")}}, nil)
	a.id = id
	a.nextDeployment()
	target := &commit{Hash: "aaaaaaa2", Files: map[string]string{"conf.yaml": configMap("conf", "a: v2"),
		"broken.yaml": brokenAccount}}
	a.fails("K8S_SYNC", "", target, running)
	log := a.succeeds("K8S_ROLLBACK", "", target, running)
	require.Contains(t, log, "did not change it and it belongs to the application other-"+id)
	require.Equal(t, "others", a.conf("a"))
}

func TestARollbackLeavesWhatThePolicyRefusesAndTheFailedDeploymentHadNotChanged(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	running := &commit{Hash: "aaaaaaa1", Files: map[string]string{"service.yaml": serviceYAML}}
	a.succeeds("K8S_SYNC", "", running, nil)
	denyServices(a)
	a.nextDeployment()
	target := &commit{Hash: "aaaaaaa2", Files: map[string]string{
		"service.yaml": strings.Replace(serviceYAML, "8080", "8081", 1)}}
	require.Contains(t, a.fails("K8S_SYNC", "", target, running), "every Service needs an owner")
	log := a.succeeds("K8S_ROLLBACK", "", target, running)
	require.Contains(t, log, "Service "+a.namespace+"/web: left as it is, because the failed deployment did not "+
		"change it and the cluster does not take it now: the ValidatingAdmissionPolicy")
	require.NotContains(t, log, "next step")
}

func TestARollbackLeavesWhatThePolicyRefusesAndTheFailedDeploymentHadOnlyMarked(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	running := &commit{Hash: "aaaaaaa1", Files: map[string]string{"service.yaml": serviceYAML,
		"conf.yaml": configMap("conf", "a: v1"), "other.yaml": configMap("other", "a: v1")}}
	a.succeeds("K8S_SYNC", "", running, nil)
	a.nextDeployment()
	target := &commit{Hash: "aaaaaaa2", Files: map[string]string{"service.yaml": serviceYAML,
		"conf.yaml": configMap("conf", "a: v2"), "other.yaml": configMap("other", "a: v1"),
		"broken.yaml": brokenDeployment}}
	a.fails("K8S_SYNC", "", target, running)
	require.Equal(t, "aaaaaaa2", a.get(services, "web").GetAnnotations()["pipecd.dev/commit-hash"])
	denyServices(a)
	log := a.succeeds("K8S_ROLLBACK", "", target, running)
	require.Contains(t, log, "Service "+a.namespace+"/web: left as it is, because the failed deployment did not "+
		"change it and the cluster does not take it now: the ValidatingAdmissionPolicy")
	require.Equal(t, "v1", a.conf("a"))

	target.Files["service.yaml"] = strings.Replace(serviceYAML, "8080", "8081", 1)
	log = a.fails("K8S_ROLLBACK", "", target, running)
	require.Contains(t, log, "every Service needs an owner")
}
