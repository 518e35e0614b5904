// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package routes

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
)

// knowing is a controller that knows Services with a port 80, named http.
func knowing(t *testing.T, names ...string) (*Controller, *record.FakeRecorder, cache.Indexer) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	services := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for _, name := range names {
		require.NoError(t, services.Add(serviceNamed(name)))
	}
	recorder := record.NewFakeRecorder(10)
	return &Controller{
		services: corelisters.NewServiceLister(services), recorder: recorder,
		config: Config{Clock: clock.RealClock{}, Listener: listener}, warned: warnings{},
	}, recorder, services
}

func serviceNamed(name string) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "http", Port: 80}}},
	}
}

// resolved is the condition of an HTTPRoute of the Gateway edge, whose one rule has the backend.
func resolved(t *testing.T, c *Controller, backend string) (metav1.Condition, report) {
	t.Helper()
	text := `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {namespace: default, name: web}, ` +
		`spec: {parentRefs: [{name: edge}], rules: [{backendRefs: [` + backend + `]}]}}`
	of := route(t, text)
	edge, _, attachments := routeRules(of, httpGateway("edge", listener{Name: "http", Protocol: "HTTP"}))
	report := c.routeReport(object(t, text), of, attachments, edge)
	parents := report.status["parents"].([]parentStatus)
	require.Len(t, parents, 1)
	return *meta.FindStatusCondition(parents[0].Conditions, "ResolvedRefs"), report
}

func TestARouteToABackendThatIsNotThereIsNotResolved(t *testing.T) {
	t.Parallel()
	c, recorder, services := knowing(t, "web")
	for backend, says := range map[string]string{
		"{name: gone, port: 80}":  "rules[0]: there is no Service default/gone",
		"{name: web, port: 8080}": "rules[0]: Service default/web has no port 8080",
	} {
		condition, report := resolved(t, c, backend)
		require.Equal(t, metav1.ConditionFalse, condition.Status)
		require.Equal(t, "BackendNotFound", condition.Reason)
		require.Equal(t, says, condition.Message)
		c.warn(report)
		require.Equal(t, "Warning BackendNotFound "+says, <-recorder.Events)
		c.warn(report)
		require.Empty(t, recorder.Events, "it is said once")
	}
	condition, _ := resolved(t, c, "{name: web, port: 80}")
	require.Equal(t, metav1.ConditionTrue, condition.Status)
	require.NoError(t, services.Add(serviceNamed("gone")))
	condition, report := resolved(t, c, "{name: gone, port: 80}")
	require.Equal(t, metav1.ConditionTrue, condition.Status)
	c.warn(report)
	require.Empty(t, recorder.Events)
	require.Empty(t, c.warned)
}

func TestAnIngressToABackendThatIsNotThereSaysSoBeforeARequest(t *testing.T) {
	t.Parallel()
	c, recorder, services := knowing(t)
	ingress := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "1"}}
	ingress.Spec.DefaultBackend = to("gone")
	port := func() networkingv1.IngressPortStatus {
		rules := ingressRules(ingress)
		report := ingressReport(ingress, rules, c.config.Listener.Addr(), missing(c.services, rules))
		c.warn(report)
		return report.status["loadBalancer"].(networkingv1.IngressLoadBalancerStatus).Ingress[0].Ports[0]
	}
	require.Equal(t, "pipedeck.dev/BackendNotFound", *port().Error)
	require.Equal(t, "Warning BackendNotFound default backend: there is no Service default/gone", <-recorder.Events)
	require.NoError(t, services.Add(serviceNamed("gone")))
	require.Nil(t, port().Error)
	require.NoError(t, services.Delete(serviceNamed("gone")))
	require.NotNil(t, port().Error)
	require.NotEmpty(t, <-recorder.Events, "it is said again")
}
