// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package routes

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/relay"
)

// world has Services whose pods answer with their own names, and a router for them.
type world struct {
	t        *testing.T
	services map[string]*relay.Endpoints // by name:port
	pods     cache.SharedIndexInformer
	router   *Router
	ports    map[relay.Address]string
	// answered counts the requests that reached a version, copies included.
	answered sync.Map
	proxy    http.Handler
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, services: map[string]*relay.Endpoints{}, ports: map[relay.Address]string{}}
	w.pods = cache.NewSharedIndexInformer(nil, &corev1.Pod{}, 0, cache.Indexers{})
	require.NoError(t, indexPods(w.pods))
	w.router = newRouter(w, w.pods.GetIndexer(), func(runtime.Object, string) {})
	t.Cleanup(w.router.Close)
	w.proxy = relay.HTTP{Choose: w.router.forHost, Failed: func(error) {}, Forwarded: true}.Handler()
	return w
}

// Backend implements Services for those of the namespace default.
func (w *world) Backend(name types.NamespacedName, number int32, portName string) (*relay.Endpoints, error) {
	if portName == "http" || number == 0 {
		number = 80
	}
	endpoints := w.services[fmt.Sprintf("%s:%d", name, number)]
	if endpoints == nil {
		return nil, fmt.Errorf("there is no Service %s with port %d", name, number)
	}
	return endpoints, nil
}

// service has a pod for each version; versions are the pods' labels "version".
func (w *world) service(name string, versions ...string) {
	w.t.Helper()
	endpoints := relay.NewEndpoints(func(a relay.Address) (string, error) {
		if address, ok := w.ports[a]; ok {
			return address, nil
		}
		return "", errors.New("it does not listen")
	})
	var ready []relay.Address
	for _, version := range versions {
		server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
			count, _ := w.answered.LoadOrStore(version, new(atomic.Int64))
			count.(*atomic.Int64).Add(1)
			fmt.Fprint(answer, version)
		}))
		w.t.Cleanup(server.Close)
		address := relay.Address{IP: fmt.Sprintf("10.244.0.%d", len(w.ports)), Port: 8080}
		w.ports[address] = server.Listener.Addr().String()
		ready = append(ready, address)
		require.NoError(w.t, w.pods.GetIndexer().Add(&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "default", Name: name + address.IP, Labels: map[string]string{"version": version},
			},
			Status: corev1.PodStatus{PodIP: address.IP},
		}))
	}
	endpoints.Set(ready, 0)
	w.services["default/"+name+":80"] = endpoints
}

// ask sends a request to a handler and returns status and text.
func ask(handler http.Handler, method, url string, headers ...string) (int, string) {
	request := httptest.NewRequest(method, url, nil)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	return answer.Code, answer.Body.String()
}

// get asks the proxy.
func (w *world) get(url string, headers ...string) string {
	w.t.Helper()
	_, text := ask(w.proxy, http.MethodGet, url, headers...)
	return text
}

// count asks n times.
func count(n int, ask func() string) map[string]int {
	counts := map[string]int{}
	for range n {
		counts[ask()]++
	}
	return counts
}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &o.Object))
	o.SetNamespace("default")
	return o
}

func route(t *testing.T, text string) *httpRoute {
	t.Helper()
	r := &httpRoute{}
	require.NoError(t, read(object(t, text), r))
	return r
}

func httpGateway(name string, listeners ...listener) map[types.NamespacedName]*gateway {
	g := &gateway{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	g.Spec.Listeners = append(listeners, listener{Name: "http", Port: 80, Protocol: "HTTP"})
	return map[types.NamespacedName]*gateway{{Namespace: "default", Name: name}: g}
}

func TestAnIngressSendsByHostAndPath(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"shop", "cart", "other", "fallback"} {
		w.service(name, name)
	}
	path := func(how networkingv1.PathType, path, service string) networkingv1.HTTPIngressPath {
		return networkingv1.HTTPIngressPath{Path: path, PathType: &how, Backend: *to(service)}
	}
	rules := func(host string, paths ...networkingv1.HTTPIngressPath) networkingv1.IngressRule {
		return networkingv1.IngressRule{Host: host, IngressRuleValue: networkingv1.IngressRuleValue{
			HTTP: &networkingv1.HTTPIngressRuleValue{Paths: paths},
		}}
	}
	ingress := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
	ingress.Spec.DefaultBackend = to("fallback")
	ingress.Spec.Rules = []networkingv1.IngressRule{
		rules("shop.localhost", path(networkingv1.PathTypePrefix, "/", "shop"),
			path(networkingv1.PathTypePrefix, "/cart", "cart"), path(networkingv1.PathTypeExact, "/cart/one", "other")),
		rules("*.wild.example", path(networkingv1.PathTypePrefix, "/", "other")),
	}
	w.router.set(ingressRules(ingress), nil)
	for url, want := range map[string]string{
		"http://shop.localhost/":           "shop",
		"http://SHOP.localhost:8080/x":     "shop",
		"http://shop.localhost/cart":       "cart",
		"http://shop.localhost/cart/two":   "cart",
		"http://shop.localhost/cartons":    "shop",
		"http://shop.localhost/cart/one":   "other",
		"http://shop.localhost/cart/one/x": "cart",
		"http://a.wild.example/":           "other",
		"http://wild.example/":             "fallback",
		"http://127.0.0.1:8080/":           "fallback",
	} {
		require.Equal(t, want, w.get(url), url)
	}
	require.True(t, w.router.knows("shop.localhost"))
	require.True(t, w.router.knows("a.wild.example"))
	require.False(t, w.router.knows("evil.example"), "a rule for every host is for names of this machine only")

	report := ingressReport(ingress, ingressRules(ingress), &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 18080}, nil)
	require.Equal(t, []string{"*", "*.wild.example", "shop.localhost"}, report.hosts)
	require.Empty(t, report.problems)
	ingress.Spec.TLS = []networkingv1.IngressTLS{{}}
	require.Len(t, ingressProblems(ingress), 1)
}

func TestAnIngressToAServiceThatIsNotThereIsUnavailableAndSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	recorder := record.NewFakeRecorder(10)
	controller := &Controller{recorder: recorder, config: Config{Clock: clock.RealClock{}}}
	w.router.unreached = controller.newReporter()
	ingress := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "1"}}
	ingress.Spec.DefaultBackend = to("gone")
	w.router.set(ingressRules(ingress), nil)
	for range 2 {
		code, text := ask(w.proxy, http.MethodGet, "http://127.0.0.1/")
		require.Equal(t, http.StatusServiceUnavailable, code)
		require.Contains(t, text, "Ingress default/web, default backend: there is no Service default/gone")
	}
	require.Contains(t, <-recorder.Events,
		"Warning NoService a request was refused: default backend: there is no Service default/gone")
	require.Empty(t, recorder.Events, "it is said once in a while")
}

func TestAnHTTPRouteToAServiceThatIsNotThereIsAnErrorOfTheServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	edge, _, _ := routeRules(route(t, weighted), httpGateway("edge"))
	own(&networkingv1.Ingress{}, http.StatusInternalServerError, edge, nil)
	w.router.set(edge, nil)
	code, _ := ask(w.proxy, http.MethodGet, "http://web.localhost/")
	require.Equal(t, http.StatusInternalServerError, code, "as the Gateway API wants it")
}

func to(service string) *networkingv1.IngressBackend {
	return &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{
		Name: service, Port: networkingv1.ServiceBackendPort{Name: "http"},
	}}
}

func TestHostsThatNoRouteHasAreAnsweredWithThoseThatAreThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	status, text := ask(w.proxy, http.MethodGet, "http://shop.localhost/")
	require.Equal(t, http.StatusNotFound, status)
	require.Contains(t, text, "No Ingress, HTTPRoute or VirtualService is here")
	w.router.set([]*rule{{hosts: []string{"a.localhost", "b.localhost"}}}, nil)
	_, text = ask(w.proxy, http.MethodGet, "http://shop.localhost/")
	require.Contains(t, text, "Hosts: a.localhost, b.localhost")
}

const weighted = `
kind: HTTPRoute
metadata: {name: web}
spec:
  parentRefs: [{name: edge}]
  hostnames: [web.localhost]
  rules:
    - matches: [{path: {value: /}}]
      backendRefs: [{name: web, port: 80, weight: 70}, {name: web-canary, port: 80, weight: 30}]
    - matches: [{path: {value: /}, headers: [{name: X-Canary, value: always}]}]
      backendRefs: [{name: web-canary, port: 80}]
    - matches: [{path: {type: Exact, value: /old}, method: POST}]
      backendRefs: [{name: web, port: 80}]
      filters: [{type: RequestRedirect}]
`

func TestAnHTTPRouteSharesRequestsByWeight(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.service("web", "stable", "stable")
	w.service("web-canary", "canary")
	edge, mesh, attachments := routeRules(route(t, weighted), httpGateway("edge"))
	require.Len(t, attachments, 1)
	require.Empty(t, attachments[0].reason)
	w.router.set(edge, mesh)
	counts := count(95, func() string { return w.get("http://web.localhost/") })
	w.router.set(edge, mesh) // an event that changes nothing
	for version, n := range count(905, func() string { return w.get("http://web.localhost/x") }) {
		counts[version] += n
	}
	require.Equal(t, map[string]int{"stable": 700, "canary": 300}, counts)
	require.Equal(t, map[string]int{"canary": 10}, count(10, func() string {
		return w.get("http://web.localhost/", "X-Canary", "always")
	}))
	status, text := ask(w.proxy, http.MethodPost, "http://web.localhost/old")
	require.Equal(t, http.StatusNotImplemented, status)
	require.Contains(t, text, "HTTPRoute default/web, rules[2]: filters of type RequestRedirect are not known here")
}

func TestARouteOfAServiceIsForItsOwnAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.service("web", "stable")
	w.service("web-canary", "canary")
	edge, mesh, _ := routeRules(route(t, `
kind: HTTPRoute
metadata: {name: web}
spec:
  parentRefs: [{group: "", kind: Service, name: web, port: 80}]
  rules: [{backendRefs: [{name: web, port: 80, weight: 1}, {name: web-canary, port: 80, weight: 1}]}]
`), nil)
	require.Empty(t, edge)
	w.router.set(edge, mesh)
	require.Equal(t, map[string]int{"stable": 5, "canary": 5}, count(10, w.at("web", 80)))
	dial, err := w.router.ForService(types.NamespacedName{Namespace: "default", Name: "other"}, 80, nil)
	require.NoError(t, err)
	require.Nil(t, dial, "other Services have their own endpoints")
}

func TestARouteWithoutParentsSaysWhatItLacks(t *testing.T) {
	t.Parallel()
	r := route(t, "kind: HTTPRoute\nmetadata: {name: web}\nspec: {rules: [{backendRefs: [{name: web, port: 80}]}]}")
	edge, mesh, _ := routeRules(r, httpGateway("edge"))
	require.Empty(t, edge)
	require.Empty(t, mesh)
	require.Equal(t, []string{"spec.parentRefs is empty, so that no request comes by this route: name a Gateway, or " +
		`share the requests to a Service: {group: "", kind: Service, name: web}`}, r.problems())
	r.Spec.ParentRefs = []parentRef{{Name: "edge"}}
	require.Empty(t, r.problems())
}

// at asks at the address of a Service.
func (w *world) at(service string, port int32) func() string {
	name := types.NamespacedName{Namespace: "default", Name: service}
	handler := relay.HTTP{Failed: func(error) {}, Choose: func(r *http.Request) (relay.Dialer, error) {
		return w.router.ForService(name, port, r)
	}}.Handler()
	return func() string {
		_, text := ask(handler, http.MethodGet, "http://127.0.0.1:39001/")
		return text
	}
}

func TestWhyARouteIsNotAccepted(t *testing.T) {
	t.Parallel()
	tls := listener{Name: "https", Port: 443, Protocol: "HTTPS"}
	for name, test := range map[string]struct {
		parent, hostnames string
		gateways          map[types.NamespacedName]*gateway
		reason            string
		hosts             []string
	}{
		"it is":                 {"{name: edge}", "[a.localhost]", httpGateway("edge"), "", []string{"a.localhost"}},
		"no such Gateway":       {"{name: missing}", "[]", httpGateway("edge"), "NoMatchingParent", nil},
		"no such listener":      {"{name: edge, sectionName: x}", "[]", httpGateway("edge"), "NoMatchingParent", nil},
		"a listener with TLS":   {"{name: edge, port: 443}", "[]", httpGateway("edge", tls), "NoMatchingParent", nil},
		"of another namespace":  {"{name: edge, namespace: infra}", "[]", shared("Same"), "NotAllowedByListeners", nil},
		"allowed for all":       {"{name: edge, namespace: infra}", "[]", shared("All"), "", nil},
		"another host":          {"{name: edge}", "[b.example]", hosted("*.x.dev"), "NoMatchingListenerHostname", nil},
		"a host of a wildcard":  {"{name: edge}", "[b.dev]", hosted("*.dev"), "", []string{"b.dev"}},
		"a wildcard for a host": {"{name: edge}", "['*.dev']", hosted("b.dev"), "", []string{"b.dev"}},
		"only the listener's":   {"{name: edge}", "[]", hosted("b.dev"), "", []string{"b.dev"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := route(t, "kind: HTTPRoute\nmetadata: {name: web}\nspec: {parentRefs: ["+test.parent+"], hostnames: "+
				test.hostnames+"}")
			a := attach(r, r.Spec.ParentRefs[0], test.gateways)
			require.Equal(t, test.reason, a.reason, a.message)
			require.Equal(t, test.hosts, a.hosts)
		})
	}
}

// shared is a Gateway of another namespace.
func shared(from string) map[types.NamespacedName]*gateway {
	g := httpGateway("edge")[types.NamespacedName{Namespace: "default", Name: "edge"}]
	g.Namespace = "infra"
	g.Spec.Listeners[0].AllowedRoutes.Namespaces.From = from
	return map[types.NamespacedName]*gateway{{Namespace: "infra", Name: "edge"}: g}
}

// hosted is a Gateway whose listener has a hostname.
func hosted(hostname string) map[types.NamespacedName]*gateway {
	gateways := httpGateway("edge")
	gateways[types.NamespacedName{Namespace: "default", Name: "edge"}].Spec.Listeners[0].Hostname = hostname
	return gateways
}

const virtual = `
kind: VirtualService
metadata: {name: web}
spec:
  hosts: [web]
  http:
    - match: [{headers: {x-canary: {exact: always}}}]
      route: [{destination: {host: web, subset: canary}}]
    - timeout: 5s
      route:
        - {destination: {host: web, subset: primary}, weight: 80}
        - {destination: {host: web.default.svc.cluster.local, subset: canary}, weight: 20}
`

func TestAVirtualServiceSharesBySubsets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.service("web", "v1", "v1", "v2")
	known := subsets{}
	require.NoError(t, known.read(object(t, `
kind: DestinationRule
metadata: {name: web}
spec:
  host: web
  subsets: [{name: primary, labels: {version: v1}}, {name: canary, labels: {version: v2}}]
`)))
	edge, mesh, problems, err := virtualRules(object(t, virtual), known)
	require.NoError(t, err)
	require.Empty(t, edge, "it is of the mesh alone")
	require.Equal(t, []string{"spec.http[1].timeout is not honoured"}, problems)
	w.router.set(edge, mesh)
	require.Equal(t, map[string]int{"v1": 80, "v2": 20}, count(100, w.at("web", 80)))

	_, mesh, _, err = virtualRules(object(t, virtual), subsets{})
	require.NoError(t, err)
	w.router.set(nil, mesh)
	require.Contains(t, w.at("web", 80)(), `no DestinationRule defines the subset "primary" of web`)
}

func TestAVirtualServiceOfAGatewayIsForItsHosts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.service("web", "web")
	w.service("api", "api")
	edge, mesh, problems, err := virtualRules(object(t, `
kind: VirtualService
metadata: {name: web}
spec:
  hosts: [web.localhost]
  gateways: [edge]
  http:
    - match: [{uri: {prefix: /api}}, {uri: {regex: "/v[0-9]+/.*"}}]
      route: [{destination: {host: api}}]
    - match: [{uri: {exact: /fault}}]
      fault: {abort: {httpStatus: 500}}
      route: [{destination: {host: web}}]
    - route: [{destination: {host: web, port: {number: 80}}}]
`), nil)
	require.NoError(t, err)
	require.Empty(t, mesh)
	require.Equal(t, []string{"spec.http[1].fault is not honoured"}, problems)
	w.router.set(edge, mesh)
	for path, want := range map[string]string{
		"/": "web", "/api": "api", "/apis": "api", "/v2/x": "api", "/v2": "web",
		"/fault": "VirtualService default/web, http[1]: fault is not honoured here\n",
	} {
		require.Equal(t, want, w.get("http://web.localhost"+path), path)
	}
}
