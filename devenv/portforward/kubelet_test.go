// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package portforward

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gwebsocket "github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/streaming/pkg/httpstream"
	streamspdy "k8s.io/streaming/pkg/httpstream/spdy"
)

// A SPDY connection that was broken from outside lingers for a second.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/moby/spdystream.(*Connection).shutdown"))
}

// kubelet forwards ports of pods as an API server and its nodes do: WebSocket or SPDY outside,
// streams inside. Objects come from client-go's own fake.
type kubelet struct {
	t      *testing.T
	server *httptest.Server
	// noWebSocket refuses them, as older servers and some proxies do.
	noWebSocket bool
	tunnels     atomic.Int64
	streams     sync.WaitGroup

	mu sync.Mutex
	// pods are the addresses behind the pods; those without one refuse connections.
	pods map[string]string
}

func newKubelet(t *testing.T) *kubelet {
	k := &kubelet{t: t, pods: map[string]string{}}
	k.server = httptest.NewServer(http.HandlerFunc(k.serve))
	t.Cleanup(func() {
		k.server.Close()
		k.streams.Wait()
	})
	return k
}

func (k *kubelet) serve(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	name := parts[len(parts)-2]
	k.mu.Lock()
	target, known := k.pods[name]
	k.mu.Unlock()
	if !known {
		http.Error(w, "no such pod", http.StatusNotFound)
		return
	}
	conn := k.upgrade(w, r, target)
	if conn == nil {
		return
	}
	k.tunnels.Add(1)
	defer k.tunnels.Add(-1)
	<-conn.CloseChan()
	_ = conn.Close()
}

func (k *kubelet) upgrade(w http.ResponseWriter, r *http.Request, target string) httpstream.Connection {
	p := &pairs{kubelet: k, target: target, waiting: map[string]httpstream.Stream{}}
	if gwebsocket.IsWebSocketUpgrade(r) {
		if k.noWebSocket {
			http.Error(w, "no WebSockets here", http.StatusForbidden)
			return nil
		}
		upgrader := gwebsocket.Upgrader{Subprotocols: []string{overWebSocket}}
		ws, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return nil
		}
		conn, err := streamspdy.NewServerConnection(portforward.NewTunnelingConnection("server", ws), p.take)
		if err != nil {
			return nil
		}
		return conn
	}
	if _, err := httpstream.Handshake(r, w, []string{protocol}); err != nil {
		return nil
	}
	return streamspdy.NewResponseUpgrader().UpgradeResponse(w, r, p.take)
}

// pairs brings the two streams of each connection together.
type pairs struct {
	kubelet *kubelet
	target  string

	mu      sync.Mutex
	waiting map[string]httpstream.Stream
}

func (p *pairs) take(stream httpstream.Stream, replySent <-chan struct{}) error {
	id := stream.Headers().Get(headerRequest)
	p.mu.Lock()
	first := p.waiting[id]
	p.waiting[id] = stream
	p.mu.Unlock()
	if first != nil {
		p.kubelet.streams.Go(func() {
			<-replySent
			p.forward(first, stream)
		})
	}
	return nil
}

func (p *pairs) forward(failures, data httpstream.Stream) {
	defer failures.Close()
	defer data.Close()
	target, err := net.Dial("tcp", p.target)
	if p.target == "" || err != nil {
		fmt.Fprintf(failures, "failed to connect to localhost:%s inside namespace: connection refused",
			data.Headers().Get(headerPort))
		return
	}
	defer target.Close()
	var sending sync.WaitGroup
	defer sending.Wait()
	sending.Go(func() {
		_, _ = io.Copy(target, data)
		_ = target.(*net.TCPConn).CloseWrite()
	})
	_, _ = io.Copy(data, target)
	_ = data.Reset() // the client's side ends, too
}

// place is a namespace with an application "web", and a forwarder.
type place struct {
	t         *testing.T
	kubelet   *kubelet
	cluster   *cluster
	forwarder *Forwarder
	ready     map[string]bool
}

var testLimits = limits{forwards: 3, connections: 20, patience: 10 * time.Second}

func newPlace(t *testing.T, limits limits) *place {
	t.Helper()
	kinds := map[schema.GroupVersionResource]string{
		serviceResource: "ServiceList", sliceResource: "EndpointSliceList", podResource: "PodList",
		workloadResources[0]: "DeploymentList", workloadResources[1]: "StatefulSetList",
		workloadResources[2]: "DaemonSetList",
	}
	k := newKubelet(t)
	c := &cluster{
		objects: dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds),
		config:  &rest.Config{Host: k.server.URL},
		close:   func() {},
	}
	p := &place{t: t, kubelet: k, cluster: c, ready: map[string]bool{}}
	p.forwarder = newForwarder(slog.New(slog.DiscardHandler), limits, func(string) (*cluster, error) { return c, nil })
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { p.forwarder.Run(ctx) })
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
	return p
}

func (p *place) create(resource schema.GroupVersionResource, text string) {
	p.t.Helper()
	var object map[string]any
	require.NoError(p.t, yaml.Unmarshal([]byte(text), &object))
	_, err := p.cluster.objects.Resource(resource).Namespace("default").Create(p.t.Context(),
		&unstructured.Unstructured{Object: object}, metav1.CreateOptions{})
	require.NoError(p.t, err)
}

// service makes the service "web" with the ports and no pod behind it.
func (p *place) service(ports string) {
	p.t.Helper()
	p.create(
		serviceResource,
		`{apiVersion: v1, kind: Service, metadata: {name: web, namespace: default, `+
			`labels: {pipecd.dev/application: app-1}}, spec: {ports: [`+ports+`]}}`,
	)
	p.create(
		sliceResource,
		`{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: web-1, namespace: default, `+
			`labels: {kubernetes.io/service-name: web}}}`,
	)
}

// pod makes a ready pod, with whatever answers at address; "" refuses connections.
func (p *place) pod(name, address string) {
	p.t.Helper()
	p.kubelet.mu.Lock()
	p.kubelet.pods[name] = address
	p.kubelet.mu.Unlock()
	p.create(podResource, fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: default, uid: %s}}`,
		name, name))
	p.ready[name] = true
	p.publish()
}

// remove takes a pod away. Its connections stay open, as those into a network that is gone do.
func (p *place) remove(name string) {
	p.t.Helper()
	require.NoError(p.t, p.cluster.objects.Resource(podResource).Namespace("default").Delete(p.t.Context(), name,
		metav1.DeleteOptions{}))
	delete(p.ready, name)
	p.publish()
}

func (p *place) publish() {
	p.t.Helper()
	var endpoints []any
	for name, ready := range p.ready {
		endpoints = append(endpoints, map[string]any{
			"addresses": []any{"10.0.0.1"}, "conditions": map[string]any{"ready": ready},
			"targetRef": map[string]any{"kind": "Pod", "namespace": "default", "name": name, "uid": name},
		})
	}
	slice := map[string]any{
		"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
		"metadata": map[string]any{"name": "web-1", "namespace": "default",
			"labels": map[string]any{"kubernetes.io/service-name": "web"}},
		"ports": []any{map[string]any{"name": "http", "port": int64(8080)},
			map[string]any{"name": "data", "port": int64(9090)}},
	}
	if len(endpoints) > 0 {
		slice["endpoints"] = endpoints
	}
	_, err := p.cluster.objects.Resource(sliceResource).Namespace("default").Update(p.t.Context(),
		&unstructured.Unstructured{Object: slice}, metav1.UpdateOptions{})
	require.NoError(p.t, err)
}

func (p *place) open(port string) (Address, error) {
	return p.forwarder.Open(p.t.Context(),
		Request{Cluster: "dev", Kubeconfig: "k", ApplicationID: "app-1", Name: "web", Port: port})
}

func (p *place) url(port string) string {
	p.t.Helper()
	a, err := p.open(port)
	require.NoError(p.t, err)
	return a.URL
}

// backend answers until the test ends.
func backend(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s%s", text, r.Method, r.RequestURI, body)
	}
}
