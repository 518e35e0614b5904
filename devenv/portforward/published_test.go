// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package portforward

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhereTheClusterAnswersItselfNothingIsForwarded(t *testing.T) {
	t.Parallel()
	p := newPlace(t, testLimits)
	p.create(serviceResource, `{apiVersion: v1, kind: Service, metadata: {name: web, namespace: default,
  labels: {`+owned+`}, annotations: {pipedeck.dev/addresses: '{"80":"127.0.0.1:13579","81":"127.0.0.1:13580"}'}},
  spec: {ports: [{name: http, port: 80}, {name: data, port: 81}, {name: late, port: 82}]}}`)
	p.create(serviceResource, `{apiVersion: v1, kind: Service, metadata: {name: x, namespace: default,
  labels: {`+owned+`}, annotations: {pipedeck.dev/simulated: "true",
  pipedeck.dev/addresses: '{"83":"127.0.0.1:13581"}'}},
  spec: {ports: [{name: nothing, port: 83}]}}`)
	p.create(routeResources[0], `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web,
  namespace: default,
  labels: {`+owned+`}, annotations: {pipedeck.dev/addresses: '{"*":"127.0.0.1:14321","shop.example":"127.0.0.1:14321",
  "shop.localhost":"127.0.0.1:14321"}'}}}`)
	open := func(port string, published bool) (Address, error) {
		return p.forwarder.Open(t.Context(), Request{
			Cluster: "dev", Kubeconfig: "kubeconfig", ApplicationID: "app-1", Name: "web", Port: port,
			Published: published,
		})
	}
	a, err := open("", true)
	require.NoError(t, err)
	require.Equal(t, Address{
		URL: "http://127.0.0.1:13579",
		Detail: "Service default/web, port http; by route: http://127.0.0.1:14321, " +
			"http://127.0.0.1:14321 with the header Host: shop.example, http://shop.localhost:14321 " +
			"(--port also takes web:data, web:late, x:nothing)",
	}, a)
	a, err = open("data", true)
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:13580", a.URL)
	_, err = open("nothing", true)
	require.ErrorIs(t, err, ErrSimulated)
	_, err = open("late", true)
	require.ErrorContains(t, err, "has no pod yet", "a port without an address is forwarded")
	_, err = open("", false)
	require.ErrorContains(t, err, "has no pod yet", "in other clusters the annotation could say anything")
}
