// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRightConfigurationsAreAccepted validates files next to what is refused, as PipeCD's users write them.
func TestRightConfigurationsAreAccepted(t *testing.T) {
	t.Parallel()
	const (
		replacements = deployed + "  eventWatcher: [{matcher: {name: a}, handler: {config: {replacements: ["
		patches      = stagesOf + "{name: K8S_CANARY_ROLLOUT, with: {patches: [{target: {kind: a, name: b"
		routed       = "\n  plugins: {kubernetes: {trafficRouting: {method: istio}}}\n"
	)
	for name, texts := range map[string][]string{
		"app.pipecd.yaml": {
			replacements + "{file: ../b/a.yaml, yamlField: $.a..b}]}}}]\n",
			replacements + "{file: a.yaml, yamlField: \"$['a.b'][0].c[*]\"}, {file: a.tf, HCLField: a.b}]}}}]\n",
			replacements + "{file: a, regex: '(?P<x>a)'}], commitMessage: 'a {{ .Value }} {{ .EventName }}'}}}]\n",
			deployed + "  postSync: {chain: {applications: [{name: b}, {labels: {a: b}}, {kind: KUBERNETES}]}}\n",
			deployed + "  driftDetection: {ignoreFields: ['apps/v1:Deployment:default:web#spec.replicas']}\n",
			deployed + "  driftDetection: {ignoreFields: ['*:*:*:a#/data/a#b', 'v1:Pod:a:b#.a[] | select(.b == 1)']}\n",
			patches + ", documentRoot: $.data.'a.yaml'}, ops: [{op: yaml-replace, path: '$.a[0].b', " +
				"value: '1'}]}]}}\n",
			patches + "}, ops: [{path: '$.a[*].b', value: {x: [1]}}, {path: \"$.data['a.b'].c\", value: ''}]}]}}\n",
			patches + "}, ops: [{op: json-patch, value: [{op: add, path: /a~1b, value: null}]}]}]}}\n",
			patches + "}, ops: [{op: json-patch, value: '[{\"op\": \"copy\", \"from\": \"/a\", \"path\": " +
				"\"/b\"}]'}]}]}}\n",
			patches + "}, ops: [{op: strategic-merge, value: {spec: {a: 1}}}]}]}}\n",
			stagesOf + "{name: WAIT_APPROVAL, with: {approvers: [a, b], minApproverNum: 2}}\n",
			stagesOf + "{name: WAIT_APPROVAL, with: {approvers: [], minApproverNum: 2}}\n",
			stagesOf + "{name: K8S_TRAFFIC_ROUTING, with: {primary: 50%, canary: '30', baseline: 20}}" + routed,
			stagesOf + "{name: K8S_TRAFFIC_ROUTING, with: {canary: 10}}" + routed,
			kubernetesOf + "{variantLabel: {key: '', primaryValue: canary, canaryValue: primary}}\n",
			kubernetesOf + "{trafficRouting: {method: istio, istio: {virtualService: {kind: VirtualService, " +
				"name: a}}}}\n",
			clustersOf + "{input: {multiTargets: [{target: {name: a}, kustomizeDir: ./a/../b}, {target: {labels: " +
				"{a: b}}}]}}\n",
		},
		"piped.yaml": {
			pluginOf + "name: kubernetes\n      config: {chartRepositories: [{name: a, " +
				"address: 'http://a:8080/x@y'}]}\n",
			pipedOf + "  plugins: [{name: a, url: 'oci://a/b:v1', port: 1}, {name: b, " +
				"url: 'https://[::1]/p', port: 2}]\n",
		},
		"analysis.yaml": {
			templatesOf + "metrics: {rate: {provider: p, query: q, interval: 5m, expected: {min: 1, max: 1}}}\n",
		},
	} {
		for _, text := range texts {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				file := filepath.Join(t.TempDir(), name)
				require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
				code, stdout, _ := command(t.Context(), t.TempDir(), "validate", "--strict", file)
				require.Zero(t, code, "%s\n%s", text, stdout)
			})
		}
	}
}
