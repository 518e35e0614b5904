// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

const routedYAML = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web, pipecd.dev/variant: primary}}
  template:
    metadata: {labels: {app: web, pipecd.dev/variant: primary}}
    spec: {containers: [{name: main, image: "app:v1"}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web, pipecd.dev/variant: primary}, ports: [{port: 80}]}
---
`

// routedSource is an application with a pipeline that routes traffic.
func routedSource(t *testing.T, method, routes string) *common.DeploymentSource {
	t.Helper()
	s := source(t, "{service: {name: web}, trafficRouting: {method: "+method+"}}", routedYAML+routes)
	s.ApplicationConfig = append(s.ApplicationConfig, []byte(`  pipeline:
    stages:
      - {name: K8S_CANARY_ROLLOUT, with: {createService: true}}
      - {name: K8S_TRAFFIC_ROUTING, with: {canary: 20}}
      - {name: K8S_PRIMARY_ROLLOUT}
      - {name: K8S_TRAFFIC_ROUTING, with: {all: primary}}
      - {name: K8S_CANARY_CLEAN}
`)...)
	return s
}

func TestAPlanByThePipelineIsRefusedWhereTrafficCannotBeRouted(t *testing.T) {
	t.Parallel()
	const (
		route   = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: web}\n"
		virtual = "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: web}\n" +
			"spec: {http: [{route: [{destination: {host: web.default.svc.cluster.local}}]}]}\n---\n" +
			"apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: web}\n"
	)
	for name, c := range map[string]struct{ method, routes, refused string }{
		"a route": {"gateway", route + "spec: {rules: [{backendRefs: [{name: web, port: 80}]}]}\n", ""},
		"a route of another Service": {"gateway", route + "spec: {rules: [{backendRefs: [{name: other}]}]}\n",
			"stage 2 of the pipeline, K8S_TRAFFIC_ROUTING, could not work: all.yaml:18: no rule of HTTPRoute web"},
		"a Deployment that cannot be distinguished": {"gateway",
			route + "spec: {rules: [{backendRefs: [{name: web}]}]}\n---\n" +
				"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: legacy}\n" +
				"spec: {selector: {matchLabels: {app: legacy}}}\n",
			"stage 3 of the pipeline, K8S_PRIMARY_ROLLOUT, could not work: all.yaml:23: the selector of Deployment " +
				"legacy must have pipecd.dev/variant: primary"},
		"subsets": {"istio", virtual + "spec: {host: web, subsets: [{name: primary}, {name: canary}]}\n", ""},
		"other subsets": {"istio", virtual + "spec: {host: web, subsets: [{name: primary}, {name: other}]}\n",
			`DestinationRule web has no subset named "canary"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := start(t)
			target := routedSource(t, c.method, c.routes)
			running := source(t, "{}", strings.Replace(routedYAML, ":v1", ":v0", 1))
			plan := func(running *common.DeploymentSource, strategy model.SyncStrategy) error {
				input := planInput(h, running, target)
				input.Deployment.Trigger.SyncStrategy = strategy
				_, err := h.Deployment.DetermineVersions(t.Context(),
					&deployment.DetermineVersionsRequest{Input: input})
				return err
			}
			for _, err := range []error{
				plan(running, model.SyncStrategy_AUTO), plan(nil, model.SyncStrategy_PIPELINE),
			} {
				if c.refused == "" {
					require.NoError(t, err)
					continue
				}
				require.Equal(t, codes.FailedPrecondition, status.Code(err))
				require.ErrorContains(t, err, c.refused)
			}
			require.NoError(t, plan(nil, model.SyncStrategy_AUTO), "the first deployment is a quick sync")
			require.NoError(t, plan(target, model.SyncStrategy_AUTO), "without a change it is one, too")
			require.NoError(t, plan(running, model.SyncStrategy_QUICK_SYNC))
		})
	}
}
