// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

var pods = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// variantLabelled is a Deployment whose selector and pods have the primary's label.
func variantLabelled(image string) string {
	return strings.NewReplacer("matchLabels: {app: web}", "matchLabels: {app: web, pipecd.dev/variant: primary}",
		"labels: {app: web}", "labels: {app: web, pipecd.dev/variant: primary}").Replace(deploymentYAML("web", image, 2,
		""))
}

func (a *app) serviceVariant() string {
	a.t.Helper()
	selector, _, err := unstructured.NestedStringMap(a.get(services, "web").Object, "spec", "selector")
	require.NoError(a.t, err)
	return selector["pipecd.dev/variant"]
}

func TestTrafficMovesToTheCanaryAndBackByTheServicesSelector(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.pipeline = "  pipeline:\n    stages:\n      - name: K8S_CANARY_ROLLOUT\n      - name: K8S_TRAFFIC_ROUTING\n" +
		"        with: {all: canary}\n" +
		"      - name: K8S_PRIMARY_ROLLOUT\n      - name: K8S_TRAFFIC_ROUTING\n        with: {all: primary}\n" +
		"      - name: K8S_CANARY_CLEAN\n"
	files := func(image string) map[string]string {
		return map[string]string{"d.yaml": variantLabelled(image),
			"s.yaml": strings.Replace(serviceYAML, "{app: web}", "{app: web, pipecd.dev/variant: primary}", 1)}
	}
	one, two := &commit{Hash: "aaaaaaa1", Files: files("app:v1")}, &commit{Hash: "aaaaaaa2", Files: files("app:v2")}
	a.succeeds("K8S_SYNC", "", one, nil)
	require.Equal(t, "primary", a.serviceVariant())

	log := a.fails("K8S_TRAFFIC_ROUTING", `{"all": "canary"}`, two, one)
	require.Contains(t, log, "no traffic was moved: there is no pod with the labels app=web,pipecd.dev/variant=canary")
	require.Equal(t, "primary", a.serviceVariant())

	a.succeeds("K8S_CANARY_ROLLOUT", `{"replicas": "100%"}`, two, one)
	log = a.succeeds("K8S_TRAFFIC_ROUTING", `{"all": "canary"}`, two, one)
	require.Contains(t, log, "Traffic is routed: canary 100%")
	metadata := a.h.Piped.StageMetadata(fmt.Sprintf("stage-%d", a.stages))
	require.Equal(t, map[string]string{
		"primary-percentage": "0", "canary-percentage": "100", "baseline-percentage": "0",
		sdk.DisplayMetadataKey: "canary 100%",
	}, metadata)
	require.Equal(t, "canary", a.serviceVariant())
	a.golden("traffic-podselector")

	log = a.succeeds("K8S_PRIMARY_ROLLOUT", `{"prune": true}`, two, one)
	require.Contains(t, log, "goes on sending traffic to the canary variant")
	require.Equal(t, "canary", a.serviceVariant())
	a.succeeds("K8S_TRAFFIC_ROUTING", `{"all": "primary"}`, two, one)
	require.Equal(t, "primary", a.serviceVariant())

	// Without a later traffic stage the rollout takes the traffic back, as no one else would.
	between := a.pipeline
	a.pipeline = "  pipeline: {stages: [{name: K8S_TRAFFIC_ROUTING, with: {all: canary}}, {name: " +
		"K8S_PRIMARY_ROLLOUT}]}\n"
	a.succeeds("K8S_TRAFFIC_ROUTING", `{"all": "canary"}`, two, one)
	a.succeeds("K8S_PRIMARY_ROLLOUT", `{}`, two, one)
	require.Equal(t, "primary", a.serviceVariant())
	a.pipeline = between

	a.succeeds("K8S_TRAFFIC_ROUTING", `{"all": "canary"}`, two, one)
	require.Contains(t, a.succeeds("K8S_CANARY_CLEAN", "", two, one), "The canary variant still gets traffic")
	require.Equal(t, "primary", a.serviceVariant())
	a.absent(deployments, "web-canary")

	a.succeeds("K8S_CANARY_ROLLOUT", `{"replicas": "100%"}`, two, one)
	a.succeeds("K8S_TRAFFIC_ROUTING", `{"all": "canary"}`, two, one)
	a.succeeds("K8S_ROLLBACK", "", two, one)
	require.Equal(t, "primary", a.serviceVariant())
	require.Equal(t, one.Hash, a.get(services, "web").GetLabels()["pipecd.dev/commit-hash"])
	a.absent(deployments, "web-canary")
}

// removeCRD removes a definition at the end of the test.
func (a *app) removeCRD(name string) {
	a.t.Cleanup(func() {
		crds := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1",
			Resource: "customresourcedefinitions"}
		require.NoError(a.t, a.live().Dynamic.Resource(crds).Delete(context.Background(), name, metav1.DeleteOptions{}))
	})
}

const virtualServiceCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: virtualservices.networking.istio.io}
spec:
  group: networking.istio.io
  scope: Namespaced
  names: {kind: VirtualService, plural: virtualservices, singular: virtualservice}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

var virtualServices = schema.GroupVersionResource{Group: "networking.istio.io", Version: "v1",
	Resource: "virtualservices"}

// shares are the weights in the VirtualService by subset.
func (a *app) shares() map[string]int64 {
	a.t.Helper()
	routes, _, err := unstructured.NestedSlice(a.get(virtualServices, "web").Object, "spec", "http")
	require.NoError(a.t, err)
	require.Len(a.t, routes, 1)
	shares := map[string]int64{}
	for _, item := range routes[0].(map[string]any)["route"].([]any) {
		subset, _, _ := unstructured.NestedString(item.(map[string]any), "destination", "subset")
		shares[subset], _, _ = unstructured.NestedInt64(item.(map[string]any), "weight")
	}
	return shares
}

func TestTrafficIsSharedByAVirtualServiceThatThePrimaryRolloutLeavesAlone(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.removeCRD("virtualservices.networking.istio.io")
	a.pipeline = "  pipeline: {stages: [{name: K8S_CANARY_ROLLOUT}, {name: K8S_TRAFFIC_ROUTING, with: {canary: " +
		"30}}, {name: K8S_PRIMARY_ROLLOUT}]}\n"
	a.settings += "}\n      trafficRouting: {method: istio"
	virtualService := "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: web}\n" +
		"spec: {hosts: [web], http: [{route: [{destination: {host: web, subset: primary}, weight: 100}]}]}\n"
	files := func(image string) map[string]string {
		return map[string]string{"d.yaml": deploymentYAML("web", image, 2, ""), "s.yaml": serviceYAML,
			"crd.yaml": virtualServiceCRD, "v.yaml": virtualService}
	}
	one, two := &commit{Hash: "aaaaaaa1", Files: files("app:v1")}, &commit{Hash: "aaaaaaa2", Files: files("app:v2")}
	a.succeeds("K8S_SYNC", "", one, nil)
	a.succeeds("K8S_CANARY_ROLLOUT", `{}`, two, one)
	a.succeeds("K8S_TRAFFIC_ROUTING", `{"canary": 30}`, two, one)
	require.Equal(t, map[string]int64{"primary": 70, "canary": 30}, a.shares())
	a.golden("traffic-istio", virtualServices)
	log := a.succeeds("K8S_PRIMARY_ROLLOUT", `{"prune": true}`, two, one)
	require.Contains(t, log, "VirtualService "+a.namespace+"/web is left to K8S_TRAFFIC_ROUTING")
	require.Equal(t, map[string]int64{"primary": 70, "canary": 30}, a.shares())
	log = a.fails("K8S_TRAFFIC_ROUTING", `{"primary": 60, "canary": "20%", "baseline": 20}`, two, one)
	require.Contains(t, log, "no traffic was moved: there is no pod with the labels "+
		"app=web,pipecd.dev/variant=baseline")
	require.Equal(t, map[string]int64{"primary": 70, "canary": 30}, a.shares())
	a.succeeds("K8S_BASELINE_ROLLOUT", "{}", two, one)
	a.succeeds("K8S_TRAFFIC_ROUTING", `{"primary": 60, "canary": "20%", "baseline": 20}`, two, one)
	require.Equal(t, map[string]int64{"primary": 60, "canary": 20, "baseline": 20}, a.shares())

	require.NoError(t, a.live().Dynamic.Resource(deployments).Namespace(a.namespace).Delete(t.Context(), "web-canary",
		metav1.DeleteOptions{}))
	a.absent(deployments, "web-canary")
	require.Eventually(t, func() bool {
		pods, err := a.live().Dynamic.Resource(pods).Namespace(a.namespace).List(t.Context(),
			metav1.ListOptions{LabelSelector: "pipecd.dev/variant=canary"})
		return err == nil && len(pods.Items) == 0
	}, time.Minute, 20*time.Millisecond)
	for _, asked := range []string{`{"canary": 50, "primary": 50}`, `{"all": "primary", "mirror": {"percent": 5}}`,
		`{"match": [{"header": {"name": "x", "exact": "1"}}]}`} {
		log = a.fails("K8S_TRAFFIC_ROUTING", asked, two, one)
		require.Contains(t, log, "no traffic was moved: there is no pod with the labels "+
			"app=web,pipecd.dev/variant=canary", asked)
	}
	require.Equal(t, map[string]int64{"primary": 60, "canary": 20, "baseline": 20}, a.shares())
	log = a.succeeds("K8S_CANARY_CLEAN", "", two, one)
	require.Contains(t, log, "The canary variant still gets traffic")
	require.Equal(t, map[string]int64{"primary": 80, "baseline": 20}, a.shares())
	a.succeeds("K8S_ROLLBACK", "", two, one)
	require.Equal(t, map[string]int64{"primary": 100}, a.shares())
}

func TestTrafficIsNotMovedToAVariantWithoutAReadyPod(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.pipeline = "  pipeline: {stages: [{name: K8S_CANARY_ROLLOUT}, {name: K8S_TRAFFIC_ROUTING, with: {all: " +
		"canary}}]}\n"
	a.settings = "autoCreateNamespace: true, failureGrace: 300ms, rolloutTimeout: 2s, waitReady: false"
	service := strings.Replace(serviceYAML, "{app: web}", "{app: web, pipecd.dev/variant: primary}", 1)
	one := &commit{Hash: "aaaaaaa1", Files: map[string]string{"d.yaml": variantLabelled("app:v1"), "s.yaml": service}}
	two := &commit{Hash: "aaaaaaa2", Files: map[string]string{
		"d.yaml": strings.Replace(variantLabelled("app:v2"), "annotations: {}",
			"annotations: {pipedeck.dev/simulate: never-ready}", 1), "s.yaml": service,
	}}
	a.succeeds("K8S_SYNC", "", one, nil)
	a.succeeds("K8S_CANARY_ROLLOUT", "{}", two, one)
	log := a.fails("K8S_TRAFFIC_ROUTING", `{"all": "canary"}`, two, one)
	require.Contains(t, log, "no traffic was moved: no pod with the labels app=web,pipecd.dev/variant=canary is "+
		"ready after 2s (input.rolloutTimeout)")
	require.Equal(t, "primary", a.serviceVariant())
}

// httpRouteCRD knows no more of an HTTPRoute than the test needs.
const httpRouteCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: httproutes.gateway.networking.k8s.io
  annotations: {api-approved.kubernetes.io: "unapproved, for a test"}
spec:
  group: gateway.networking.k8s.io
  scope: Namespaced
  names: {kind: HTTPRoute, plural: httproutes, singular: httproute}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      schema:
        openAPIV3Schema:
          type: object
          properties:
            status: {type: object, x-kubernetes-preserve-unknown-fields: true}
            spec:
              type: object
              properties:
                rules:
                  type: array
                  items:
                    type: object
                    properties:
                      name: {type: string}
                      backendRefs:
                        type: array
                        items:
                          type: object
                          required: [name]
                          properties:
                            kind: {type: string, default: Service}
                            name: {type: string}
                            port: {type: integer}
                            weight: {type: integer, default: 1, minimum: 0, maximum: 1000000}
`

var httpRoutes = schema.GroupVersionResource{Group: "gateway.networking.k8s.io", Version: "v1", Resource: "httproutes"}

// weights are those of the backends of the HTTPRoute, by name.
func (a *app) weights() map[string]int64 {
	a.t.Helper()
	rules, _, err := unstructured.NestedSlice(a.get(httpRoutes, "web").Object, "spec", "rules")
	require.NoError(a.t, err)
	require.Len(a.t, rules, 1)
	weights := map[string]int64{}
	for _, item := range rules[0].(map[string]any)["backendRefs"].([]any) {
		ref := item.(map[string]any)
		weights[ref["name"].(string)] = ref["weight"].(int64)
	}
	return weights
}

func TestTrafficIsSharedByAnHTTPRoute(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.removeCRD("httproutes.gateway.networking.k8s.io")
	a.pipeline = `  pipeline:
    stages:
      - {name: K8S_CANARY_ROLLOUT, with: {createService: true}}
      - {name: K8S_BASELINE_ROLLOUT, with: {createService: true, suffix: b}}
      - {name: K8S_TRAFFIC_ROUTING, with: {canary: 30, baseline: 30}}
      - {name: K8S_PRIMARY_ROLLOUT, with: {prune: true}}
      - {name: K8S_TRAFFIC_ROUTING, with: {all: primary}}
      - {name: K8S_CANARY_CLEAN}
`
	a.settings += "}\n      trafficRouting: {method: gateway"
	route := "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: web}\n" +
		"spec: {rules: [{backendRefs: [{name: web, port: 80}]}]}\n"
	files := func(image string) map[string]string {
		return map[string]string{"d.yaml": variantLabelled(image), "crd.yaml": httpRouteCRD, "r.yaml": route,
			"s.yaml": strings.Replace(serviceYAML, "{app: web}", "{app: web, pipecd.dev/variant: primary}", 1)}
	}
	one, two := &commit{Hash: "aaaaaaa1", Files: files("app:v1")}, &commit{Hash: "aaaaaaa2", Files: files("app:v2")}
	a.succeeds("K8S_SYNC", "", one, nil)
	require.Equal(t, map[string]int64{"web": 1}, a.weights())

	a.succeeds("K8S_CANARY_ROLLOUT", `{}`, two, one)
	log := a.fails("K8S_TRAFFIC_ROUTING", `{"canary": 30}`, two, one)
	require.Contains(t, log, "no traffic was moved: there is no Service "+a.namespace+"/web-canary: roll the "+
		"canary variant out with createService: true")
	log = a.fails("K8S_TRAFFIC_ROUTING", `{"match": [{"header": {"name": "x", "exact": "1"}}]}`, two, one)
	require.Contains(t, log, "no traffic was moved: there is no Service "+a.namespace+"/web-canary")
	a.succeeds("K8S_CANARY_ROLLOUT", `{"createService": true}`, two, one)
	a.succeeds("K8S_BASELINE_ROLLOUT", `{"createService": true, "suffix": "b"}`, two, one)
	log = a.succeeds("K8S_TRAFFIC_ROUTING", `{"canary": 30, "baseline": 30}`, two, one)
	require.Contains(t, log, "Traffic is routed: primary 40%, canary 30%, baseline 30%")
	require.Contains(t, log, "Warning: no Gateway reports that it has accepted HTTPRoute "+a.namespace+"/web")
	require.Equal(t, map[string]int64{"web": 40, "web-canary": 30, "web-b": 30}, a.weights())
	a.golden("traffic-gateway", httpRoutes)

	log = a.succeeds("K8S_PRIMARY_ROLLOUT", `{"prune": true}`, two, one)
	require.Contains(t, log, "HTTPRoute "+a.namespace+"/web is left to K8S_TRAFFIC_ROUTING")
	require.Equal(t, map[string]int64{"web": 40, "web-canary": 30, "web-b": 30}, a.weights())
	a.succeeds("K8S_ROLLBACK", "", two, one)
	require.Equal(t, map[string]int64{"web": 1}, a.weights())
	a.absent(services, "web-canary")

	takeTraffic(a, two, one)
	acceptTraffic(a, two, one)
	rewriteTraffic(a, two)
}

// takeTraffic removes variants that still get traffic by the HTTPRoute.
func takeTraffic(a *app, two, one *commit) {
	t := a.t
	t.Helper()
	a.succeeds("K8S_CANARY_ROLLOUT", `{"createService": true}`, two, one)
	a.succeeds("K8S_BASELINE_ROLLOUT", `{"createService": true, "suffix": "b"}`, two, one)
	a.succeeds("K8S_TRAFFIC_ROUTING", `{"canary": 30, "baseline": 30}`, two, one)
	log := a.succeeds("K8S_BASELINE_CLEAN", "", two, one)
	require.Contains(t, log, "The baseline variant still gets traffic: moving that to the primary before it is removed")
	require.Equal(t, map[string]int64{"web": 70, "web-canary": 30}, a.weights())
	log = a.succeeds("K8S_CANARY_CLEAN", "", two, one)
	require.Contains(t, log, "The canary variant still gets traffic: moving that to the primary before it is removed")
	require.Equal(t, map[string]int64{"web": 100}, a.weights())
	a.absent(services, "web-canary")
	require.NotContains(t, a.succeeds("K8S_CANARY_CLEAN", "", two, one), "still gets traffic")
}

// acceptTraffic routes by the HTTPRoute when a Gateway reports about it.
func acceptTraffic(a *app, two, one *commit) {
	t := a.t
	t.Helper()
	accepted := func(status string) {
		a.edit(httpRoutes, "web", fmt.Sprintf(`{"status": {"parents": [{"parentRef": {"name": "gw"}, "conditions": [
			{"type": "Accepted", "status": %q, "reason": "Maybe", "message": "no listener for it",
			"observedGeneration": 99}]}]}}`, status), "status")
	}
	accepted("False")
	log := a.fails("K8S_TRAFFIC_ROUTING", `{"all": "primary"}`, two, one)
	require.Contains(t, log, "no request is routed by HTTPRoute "+a.namespace+"/web, because it is not accepted: "+
		"Gateway gw: Maybe: no listener for it")
	accepted("True")
	require.NotContains(t, a.succeeds("K8S_TRAFFIC_ROUTING", `{"all": "primary"}`, two, one), "Warning")
}

// rewriteTraffic edits the HTTPRoute, which only stages have written.
func rewriteTraffic(a *app, two *commit) {
	a.t.Helper()
	inRoute := func(text string) func(*livestate.GetLivestateResponse) bool {
		return func(r *livestate.GetLivestateResponse) bool {
			reason := r.GetSyncState().GetReason()
			return strings.Contains(reason, "HTTPRoute") == (text != "") && strings.Contains(reason, text)
		}
	}
	a.becomes(two, "written by stages alone", inRoute(""))
	a.edit(httpRoutes, "web", `{"spec": {"rules": [{"backendRefs": [{"name": "web", "port": 80},
		{"name": "legacy", "port": 80, "weight": 900}]}]}}`)
	a.becomes(two, "written by hand", inRoute("spec.rules[0].backendRefs[legacy]"))
}

func TestAPipelineThatCannotWorkChangesNothing(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.pipeline = "  pipeline: {stages: [{name: K8S_CANARY_ROLLOUT}, {name: K8S_TRAFFIC_ROUTING, with: {canary: 50}}]}\n"
	one := &commit{Hash: "aaaaaaa1", Files: map[string]string{"d.yaml": variantLabelled("app:v1"),
		"s.yaml": serviceYAML}}
	a.succeeds("K8S_SYNC", "", one, nil)
	log := a.fails("K8S_CANARY_ROLLOUT", `{}`, one, one)
	require.Contains(t, log, "stage 2 of the pipeline: K8S_TRAFFIC_ROUTING: the selector of a Service can send "+
		"all traffic")
	a.absent(deployments, "web-canary")
}
