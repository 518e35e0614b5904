// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var ingresses = schema.GroupVersionResource{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"}

const ingressYAML = `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec:
  rules:
    - host: web.example.com
      http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
`

// steeredFiles are a Deployment and a Service of the primary alone, and what routes to it.
func steeredFiles(image string, routes map[string]string) map[string]string {
	files := map[string]string{"d.yaml": variantLabelled(image),
		"s.yaml": strings.Replace(serviceYAML, "{app: web}", "{app: web, pipecd.dev/variant: primary}", 1)}
	for name, content := range routes {
		files[name] = content
	}
	return files
}

func TestACanaryIngressComesAndGoesWithTheTrafficOfTheCanary(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.pipeline = `  pipeline:
    stages:
      - {name: K8S_CANARY_ROLLOUT, with: {createService: true}}
      - {name: K8S_TRAFFIC_ROUTING, with: {canary: 20}}
      - {name: K8S_PRIMARY_ROLLOUT, with: {prune: true}}
      - {name: K8S_TRAFFIC_ROUTING, with: {all: primary}}
      - {name: K8S_CANARY_CLEAN}
`
	a.settings += "}\n      trafficRouting: {method: nginx"
	files := func(image string) map[string]string {
		return steeredFiles(image, map[string]string{"i.yaml": ingressYAML})
	}
	one, two := &commit{Hash: "aaaaaaa1", Files: files("app:v1")}, &commit{Hash: "aaaaaaa2", Files: files("app:v2")}
	a.succeeds("K8S_SYNC", "", one, nil)

	log := a.fails("K8S_TRAFFIC_ROUTING", `{"canary": 20}`, two, one)
	require.Contains(t, log, "no traffic was moved: there is no Service "+a.namespace+"/web-canary: roll the canary "+
		"variant out with createService: true before this stage (K8S_CANARY_ROLLOUT)")
	a.absent(ingresses, "web-canary")

	a.succeeds("K8S_CANARY_ROLLOUT", `{"createService": true}`, two, one)
	log = a.succeeds("K8S_TRAFFIC_ROUTING", `{"canary": 20}`, two, one)
	require.Contains(t, log, "Routing traffic by Ingress "+a.namespace+"/web-canary: primary 80%, canary 20%")
	require.Equal(t, map[string]string{"canary": "true", "canary-weight": "20"}, canaryAnnotations(a))
	a.succeeds("K8S_TRAFFIC_ROUTING", `{"match": [{"header": {"name": "x-canary", "exact": "true"}},
		{"cookie": {"name": "canary", "exact": "always"}}]}`, two, one)
	require.Equal(t, map[string]string{"canary": "true", "canary-weight": "0", "canary-by-header": "x-canary",
		"canary-by-header-value": "true", "canary-by-cookie": "canary"}, canaryAnnotations(a))
	a.golden("traffic-nginx", ingresses)
	a.succeeds("K8S_TRAFFIC_ROUTING", `{"canary": 50}`, two, one)
	require.Equal(t, map[string]string{"canary": "true", "canary-weight": "50"}, canaryAnnotations(a))

	a.succeeds("K8S_PRIMARY_ROLLOUT", `{"prune": true}`, two, one)
	require.Equal(t, map[string]string{"canary": "true", "canary-weight": "50"}, canaryAnnotations(a))
	log = a.succeeds("K8S_TRAFFIC_ROUTING", `{"all": "primary"}`, two, one)
	require.Contains(t, log, "- Ingress "+a.namespace+"/web-canary: deleted")
	a.absent(ingresses, "web-canary")
	a.get(deployments, "web-canary")

	a.succeeds("K8S_TRAFFIC_ROUTING", `{"canary": 100}`, two, one)
	log = a.succeeds("K8S_ROLLBACK", "", two, one)
	before, _, found := strings.Cut(log, "- Service "+a.namespace+"/web-canary: deleted")
	require.True(t, found, log)
	require.Contains(t, before, "- Ingress "+a.namespace+"/web-canary: deleted", "before what it leads to")
	a.absent(ingresses, "web-canary")
	a.absent(deployments, "web-canary")

	a.succeeds("K8S_CANARY_ROLLOUT", `{"createService": true}`, two, one)
	require.NoError(t, a.live().Dynamic.Resource(ingresses).Namespace(a.namespace).Delete(t.Context(), "web",
		metav1.DeleteOptions{}))
	a.absent(ingresses, "web")
	log = a.fails("K8S_TRAFFIC_ROUTING", `{"canary": 20}`, two, one)
	require.Contains(t, log, "no traffic was moved: Ingress "+a.namespace+"/web is not in the cluster, so Ingress "+
		a.namespace+"/web-canary would get nothing")
	a.absent(ingresses, "web-canary")
}

// canaryAnnotations are those of the canary Ingress that ingress-nginx reads.
func canaryAnnotations(a *app) map[string]string {
	a.t.Helper()
	found := map[string]string{}
	for name, value := range a.get(ingresses, "web-canary").GetAnnotations() {
		if own, ok := strings.CutPrefix(name, "nginx.ingress.kubernetes.io/"); ok {
			found[own] = value
		}
	}
	return found
}

// traefikCRDs define the kinds that a stage writes.
const traefikCRDs = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ingressroutes.traefik.io}
spec:
  group: traefik.io
  scope: Namespaced
  names: {kind: IngressRoute, plural: ingressroutes, singular: ingressroute}
  versions:
    - name: v1alpha1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: traefikservices.traefik.io}
spec:
  group: traefik.io
  scope: Namespaced
  names: {kind: TraefikService, plural: traefikservices, singular: traefikservice}
  versions:
    - name: v1alpha1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

var (
	ingressRoutes   = schema.GroupVersionResource{Group: "traefik.io", Version: "v1alpha1", Resource: "ingressroutes"}
	traefikServices = schema.GroupVersionResource{Group: "traefik.io", Version: "v1alpha1", Resource: "traefikservices"}
)

// traefikWeights are those of the services of each route of the IngressRoute, by name.
func traefikWeights(a *app) (all []map[string]int64) {
	a.t.Helper()
	routes, _, err := unstructured.NestedSlice(a.get(ingressRoutes, "web").Object, "spec", "routes")
	require.NoError(a.t, err)
	for _, item := range routes {
		weights := map[string]int64{}
		for _, service := range item.(map[string]any)["services"].([]any) {
			weight, _ := service.(map[string]any)["weight"].(int64)
			weights[service.(map[string]any)["name"].(string)] = weight
		}
		all = append(all, weights)
	}
	return all
}

func TestTrafficIsSharedAndCopiedByAnIngressRoute(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.removeCRD("ingressroutes.traefik.io")
	a.removeCRD("traefikservices.traefik.io")
	a.pipeline = `  pipeline:
    stages:
      - {name: K8S_CANARY_ROLLOUT, with: {createService: true}}
      - {name: K8S_TRAFFIC_ROUTING, with: {canary: 20}}
      - {name: K8S_PRIMARY_ROLLOUT, with: {prune: true}}
      - {name: K8S_TRAFFIC_ROUTING, with: {all: primary}}
      - {name: K8S_CANARY_CLEAN}
`
	a.settings += "}\n      trafficRouting: {method: traefik"
	files := func(image string) map[string]string {
		return steeredFiles(image, map[string]string{"crd.yaml": traefikCRDs, "r.yaml": "apiVersion: " +
			"traefik.io/v1alpha1\nkind: IngressRoute\nmetadata: {name: web}\nspec:\n  routes:\n    - {match: " +
			"'Host(`a.example.com`)', kind: Rule, services: [{name: web, port: 80}]}\n"})
	}
	one, two := &commit{Hash: "aaaaaaa1", Files: files("app:v1")}, &commit{Hash: "aaaaaaa2", Files: files("app:v2")}
	a.succeeds("K8S_SYNC", "", one, nil)
	log := a.fails("K8S_TRAFFIC_ROUTING", `{"match": [{"header": {"name": "x", "exact": "1"}}]}`, two, one)
	require.Contains(t, log, "no traffic was moved: there is no Service "+a.namespace+"/web-canary")

	a.succeeds("K8S_CANARY_ROLLOUT", `{"createService": true}`, two, one)
	a.succeeds("K8S_TRAFFIC_ROUTING", `{"canary": 20, "match": [{"header": {"name": "x", "exact": "1"}}]}`, two, one)
	require.Equal(t, []map[string]int64{{"web": 80, "web-canary": 20}, {"web-canary": 0}}, traefikWeights(a))
	a.succeeds("K8S_TRAFFIC_ROUTING", `{"canary": 20, "mirror": {"percent": 10}, "sessionAffinity": {"cookie": "web"}}`,
		two, one)
	require.Equal(t, []map[string]int64{{"web-0-copies": 0}}, traefikWeights(a))
	a.get(traefikServices, "web-0-copies")
	a.get(traefikServices, "web-0-shares")
	a.golden("traffic-traefik", ingressRoutes, traefikServices)

	log = a.succeeds("K8S_CANARY_CLEAN", "", two, one)
	_, after, found := strings.Cut(log, "The canary variant still gets traffic")
	require.True(t, found, log)
	before, _, found := strings.Cut(after, "- TraefikService "+a.namespace+"/web-0-copies: deleted")
	require.True(t, found, log)
	require.Contains(t, before, "- IngressRoute "+a.namespace+"/web: ", "the route stops naming it first")
	require.Equal(t, []map[string]int64{{"web": 100}}, traefikWeights(a))
	a.absent(traefikServices, "web-0-copies")
	a.absent(services, "web-canary")
	a.succeeds("K8S_CANARY_ROLLOUT", `{"createService": true}`, two, one)
	a.succeeds("K8S_TRAFFIC_ROUTING", `{"canary": 20, "mirror": {"percent": 10}}`, two, one)

	log = a.succeeds("K8S_PRIMARY_ROLLOUT", `{"prune": true}`, two, one)
	require.Contains(t, log, "IngressRoute "+a.namespace+"/web is left to K8S_TRAFFIC_ROUTING")
	a.succeeds("K8S_TRAFFIC_ROUTING", `{"canary": 50}`, two, one)
	require.Equal(t, []map[string]int64{{"web": 50, "web-canary": 50}}, traefikWeights(a))
	a.absent(traefikServices, "web-0-copies")
	a.absent(traefikServices, "web-0-shares")
	a.succeeds("K8S_TRAFFIC_ROUTING", `{"all": "primary", "mirror": {}}`, two, one)
	a.succeeds("K8S_ROLLBACK", "", two, one)
	require.Equal(t, []map[string]int64{{"web": 0}}, traefikWeights(a))
	a.absent(traefikServices, "web-0-copies")
	a.absent(services, "web-canary")
}
