// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/engine"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/health"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

// The program of the tests runs scripts of health, as the plugin does.
func TestMain(m *testing.M) {
	health.ServeIfChild()
	os.Exit(m.Run())
}

// byRule says what a widget is: by an expression, and the same by a script.
var byRule = map[string]config.HealthRule{
	"CEL": {CEL: `has(object.status) ? {"status": object.status.phase, "message": object.status.says} :
	              {"status": "Progressing"}`},
	"Lua": {Lua: `if obj.status == nil then return {status = "Progressing"} end
	              return {status = obj.status.phase, message = obj.status.says}`},
}

func TestARuleJudgesACustomKind(t *testing.T) {
	t.Parallel()
	for language, rule := range byRule {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			a := newApp(t)
			group := fmt.Sprintf("w%d.example.com", time.Now().UnixNano())
			rule.Group, rule.Kind = group, "Wid*"
			a.h = wiretest.Start(t, sdk.ForDeployment(newPlugin(engine.New())), wiretest.Options{
				Name: "kubernetes", Config: map[string]any{"health": []config.HealthRule{rule}},
				DeployTargets: []sdk.DeployTargetConfig{{Name: "local",
					Config: []byte(`{"kubeConfigPath": "` + os.Getenv(kubeconfigEnv) + `"}`)}},
			})
			c := &commit{Hash: "aaaaaaa1", Files: map[string]string{
				"widget.yaml": "apiVersion: " + group + "/v1\nkind: Widget\nmetadata: {name: a}\nspec: {size: 3}\n",
				"crd.yaml": fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget}
  versions: [{name: v1, served: true, storage: true, subresources: {status: {}},
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`, group)}}
			widgets := schema.GroupVersionResource{Group: group, Version: "v1", Resource: "widgets"}
			controlled := make(chan struct{})
			go func() {
				defer close(controlled)
				report(a, widgets, "Healthy", "rolls")
			}()
			log := a.succeeds("K8S_SYNC", "", c, nil)
			<-controlled
			require.Contains(t, log, "Widget a: Progressing\n")
			require.Contains(t, log, "Widget a: Healthy: rolls")
			a.becomes(c, "healthy", healthy)

			report(a, widgets, "Degraded", "lost a screw")
			state := a.becomes(c, "degraded", func(r *livestate.GetLivestateResponse) bool { return !healthy(r) })
			widget := resourceOf(state, "Widget")
			require.Equal(t, model.ResourceState_UNHEALTHY, widget.GetHealthStatus())
			require.Equal(t, "its health is Degraded: lost a screw", widget.GetHealthDescription())
			h := a.h
			a.nextDeployment()
			a.h = h // the plugin goes on
			log = a.fails("K8S_SYNC", "", c, c)
			require.Contains(t, log, "Widget "+a.namespace+"/a: Degraded: lost a screw")
			report(a, widgets, "Fine", "")
			log = a.fails("K8S_SYNC", "", c, c)
			require.Contains(t, log, `fails: it gives the status "Fine": want Healthy, Progressing, Degraded, `+
				"Suspended, Missing or Unknown")
			state = a.becomes(c, "unknown", func(r *livestate.GetLivestateResponse) bool {
				return resourceOf(r, "Widget").GetHealthStatus() == model.ResourceState_UNKNOWN
			})
			require.Contains(t, resourceOf(state, "Widget").GetHealthDescription(), `fails: it gives the status "Fine"`)
		})
	}
}

// report writes the status of a widget, as its controller would, once the widget is there.
func report(a *app, widgets schema.GroupVersionResource, phase, says string) {
	patch := fmt.Appendf(nil, `{"status": {"phase": %q, "says": %q}}`, phase, says)
	assert.Eventually(a.t, func() bool {
		_, err := a.live().Dynamic.Resource(widgets).Namespace(a.namespace).Patch(a.t.Context(), "a",
			types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "controller"}, "status")
		return err == nil
	}, time.Minute, 50*time.Millisecond, "no widget to report about")
}

// resourceOf finds the object of a kind in a live state.
func resourceOf(state *livestate.GetLivestateResponse, kind string) *model.ResourceState {
	for _, r := range state.GetApplicationLiveState().GetResources() {
		if r.GetResourceType() == kind {
			return r
		}
	}
	return nil
}
