// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package variant_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/variant"
)

func TestSubsetsSelectThePodsThatIstioWouldSendTrafficTo(t *testing.T) {
	t.Parallel()
	const (
		route = "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: web}\n" +
			"spec: {hosts: [web], http: [{route: [{destination: {host: web}}]}]}\n"
		service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}}\n"
		rule    = "apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: web}\n" +
			"spec: {host: web, subsets: [{name: primary, labels: {track: stable}}, {name: canary, labels: {track: " +
			"canary}}]}\n"
	)
	for name, c := range map[string]struct {
		manifests                 string
		primary, canary, baseline string
	}{
		"by the variant label": {
			route + "---\n" + service,
			"app=web,pipecd.dev/variant notin (baseline,canary)", "app=web,pipecd.dev/variant=canary",
			"app=web,pipecd.dev/variant=baseline",
		},
		"by the labels of a DestinationRule": {
			route + "---\n" + service + "---\n" + rule, "app=web,track=stable", "app=web,track=canary",
			"app=web,pipecd.dev/variant=baseline",
		},
		"with a Service from elsewhere": {route, "", "pipecd.dev/variant=canary", "pipecd.dev/variant=baseline"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "all.yaml"), []byte(c.manifests), 0o600))
			all, err := manifest.NewLoader().Load(t.Context(), manifest.Request{Dir: dir, Namespace: "shop"})
			require.NoError(t, err)
			app := application(t)
			app.TrafficRouting.Method, app.Service.Name = config.MethodIstio, "web"
			subsets, err := variant.Subsets(all, app)
			require.NoError(t, err)
			if c.primary == "" {
				require.Nil(t, subsets.Of("primary").Selector, "its pods cannot be known")
			} else {
				require.Equal(t, c.primary, subsets.Of("primary").Selector.String())
			}
			require.Equal(t, c.canary, subsets.Of("canary").Selector.String())
			require.Equal(t, c.baseline, subsets.Of("baseline").Selector.String())
			require.Equal(t, "shop", subsets.Of("canary").Namespace)
		})
	}
}

// Istio answers with 503 for a subset that its DestinationRule does not have.
func TestASubsetThatTheDestinationRuleLacksIsAnErrorWithItsPlace(t *testing.T) {
	t.Parallel()
	const text = "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: web}\n" +
		"spec: {http: [{route: [{destination: {host: web}}]}]}\n---\napiVersion: v1\nkind: Service\n" +
		"metadata: {name: web}\nspec: {selector: {app: web}}\n"
	const rule = "---\napiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: web}\nspec:\n" +
		"  host: web.default.svc.cluster.local\n  subsets: [{name: primary, labels: {a: b}}, {name: stable}]\n"
	app := application(t)
	app.TrafficRouting.Method = config.MethodIstio
	check := func(text, value string) error {
		all, err := manifest.Parse([]byte(text), "a.yaml")
		require.NoError(t, err)
		subsets, err := variant.Subsets(all, app)
		require.NoError(t, err)
		return subsets.Check(value)
	}
	require.NoError(t, check(text, "canary"), "a DestinationRule may be elsewhere")
	require.NoError(t, check(text+rule, "primary"))
	require.EqualError(t, check(text+rule, "canary"), `a.yaml:16: DestinationRule web has no subset named "canary", `+
		"by which K8S_TRAFFIC_ROUTING sends traffic to the variant: add {name: canary, labels: {pipecd.dev/variant: "+
		"canary}} to spec.subsets")
}
