// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// The name of an object with its namespace in Git is an annotation, which a traffic stage must not change.
func TestARouteKeepsTheNamespaceThatItHasInGit(t *testing.T) {
	t.Parallel()
	for _, namespace := range []string{"", "shop"} {
		parsed, err := manifest.Parse([]byte("apiVersion: networking.istio.io/v1\nkind: VirtualService\n"+
			"metadata: {name: web, namespace: '"+namespace+"'}\n"+
			"spec: {http: [{route: [{destination: {host: web.shop.svc}}]}]}\n"), "a.yaml")
		require.NoError(t, err)
		s := &Source{}
		s.App.TrafficRouting.Method, s.App.Service.Name = config.MethodIstio, "web"
		require.NoError(t, s.App.Validate())
		r, err := routeIn(parsed, s, config.Traffic{Primary: 100}, "shop")
		require.NoError(t, err)
		require.Equal(t, namespace, r.object.GetNamespace())
		_, err = routeIn(parsed, s, config.Traffic{Primary: 100}, "other")
		require.Equal(t, namespace == "shop", err == nil, "the host is in another namespace: %v", err)
	}
}
