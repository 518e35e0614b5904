// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package services

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/containers"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/kubelet"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/relay"
)

// world is a proxy with the objects that a test puts into its caches. Its API server takes patches of Services and puts
// them into the cache.
type world struct {
	t        *testing.T
	proxy    *Proxy
	factory  informers.SharedInformerFactory
	recorder *record.FakeRecorder

	mu    sync.Mutex
	ports map[string]string // host:port by "IP:port" of a pod
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, recorder: record.NewFakeRecorder(1000), ports: map[string]string{}}
	server := httptest.NewServer(http.HandlerFunc(w.patch))
	t.Cleanup(server.Close)
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL, QPS: -1})
	require.NoError(t, err)
	w.factory = informers.NewSharedInformerFactory(client, 0)
	w.proxy, err = New(Config{
		Client: client, Informers: w.factory, APIServer: "127.0.0.1:6443", Clock: clock.RealClock{},
	})
	require.NoError(t, err)
	w.proxy.Attach(w, func(types.NamespacedName, int32, *http.Request) (relay.Dialer, error) { return nil, nil })
	w.proxy.recorder = w.recorder
	w.proxy.synced = nil // nothing is watched
	t.Cleanup(w.proxy.close)
	return w
}

// patch is the API server.
func (w *world) patch(answer http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/") // api v1 namespaces NAMESPACE services NAME
	service := w.service(parts[3], parts[5]).DeepCopy()
	if parts[len(parts)-1] == "status" {
		service.Status = corev1.ServiceStatus{} // what is decoded is added to a list that is there
	}
	if err := json.NewDecoder(r.Body).Decode(service); err != nil {
		w.t.Error(err)
	}
	maps.DeleteFunc(service.Annotations, func(_, value string) bool { return value == "" }) // null removes
	if err := w.factory.Core().V1().Services().Informer().GetIndexer().Update(service); err != nil {
		w.t.Error(err)
	}
	answer.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(answer).Encode(service); err != nil {
		w.t.Error(err)
	}
}

func (w *world) service(namespace, name string) *corev1.Service {
	w.t.Helper()
	service, err := w.proxy.services.Services(namespace).Get(name)
	require.NoError(w.t, err)
	return service
}

// HostPort implements PodAddresses.
func (w *world) HostPort(podIP string, port int32) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if address, ok := w.ports[net.JoinHostPort(podIP, strconv.Itoa(int(port)))]; ok {
		return address, nil
	}
	return "", errors.New("it does not listen")
}

// pod runs a web server at port 8080 of a pod.
func (w *world) pod(ip, greeting string) {
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(answer, greeting)
	}))
	w.t.Cleanup(server.Close)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ports[ip+":8080"] = server.Listener.Addr().String()
}

func web(ports ...corev1.ServicePort) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "hello-world"},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, ClusterIP: "10.96.0.7", Ports: ports},
	}
}

var httpPort = corev1.ServicePort{Name: "http", Port: 80, TargetPort: intstr.FromString("http")}

func (w *world) add(service *corev1.Service) {
	w.t.Helper()
	require.NoError(w.t, w.factory.Core().V1().Services().Informer().GetIndexer().Add(service))
	w.sync(service)
}

func (w *world) sync(service *corev1.Service) {
	w.t.Helper()
	require.NoError(w.t, w.proxy.sync(w.t.Context(), types.NamespacedName{
		Namespace: service.Namespace, Name: service.Name,
	}))
}

// endpoints puts a slice of hello-world's into the cache.
func (w *world) endpoints(name string, ready bool, ips ...string) *discoveryv1.EndpointSlice {
	w.t.Helper()
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, Labels: map[string]string{discoveryv1.LabelServiceName: "hello-world"},
		},
		Ports: []discoveryv1.EndpointPort{
			{Name: new("http"), Port: new(int32(8080)), Protocol: new(corev1.ProtocolTCP)},
		},
	}
	for _, ip := range ips {
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{
			Addresses: []string{ip}, Conditions: discoveryv1.EndpointConditions{Ready: &ready},
		})
	}
	require.NoError(w.t, w.factory.Discovery().V1().EndpointSlices().Informer().GetIndexer().Add(slice))
	return slice
}

// address reads the annotation of hello-world.
func (w *world) address(port int32) string {
	w.t.Helper()
	return readAddresses(w.service("default", "hello-world"))[port]
}

func get(t *testing.T, address string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address, nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(text)
}

func refused(address string) bool {
	conn, err := net.Dial("tcp", address)
	if err == nil {
		_ = conn.Close()
	}
	return err != nil
}

func TestTwoVersionsOfFivePodsShareAThousandRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var stable, canary []string
	for i := range 5 {
		stable, canary = append(stable, fmt.Sprintf("10.244.0.%d", i)), append(canary, fmt.Sprintf("10.244.1.%d", i))
		w.pod(stable[i], "v1")
		w.pod(canary[i], "v2")
	}
	w.endpoints("one", true, stable...)
	w.endpoints("two", true, canary...)
	w.endpoints("three", false, "10.244.2.1")
	w.add(web(httpPort))
	counts := map[string]int{}
	for range 1000 {
		_, text := get(t, w.address(80))
		counts[text]++
	}
	require.Equal(t, map[string]int{"v1": 500, "v2": 500}, counts)
	require.Empty(t, w.recorder.Events)
}

func TestAnAddressIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(web(httpPort))
	address := w.address(80)
	require.Regexp(t, `^127\.0\.0\.1:\d+$`, address)
	w.proxy.close()
	require.True(t, refused(address))

	later := newWorld(t)
	service := web(httpPort)
	service.Annotations = map[string]string{AddressesAnnotation: `{"80":"` + address + `"}`}
	later.add(service)
	require.Equal(t, address, later.address(80), "after a restart")

	service = later.service("default", "hello-world").DeepCopy()
	service.Spec.Ports[0].Name = "mysql"
	later.add(service)
	require.Equal(t, address, later.address(80), "when the port speaks something else")

	require.NoError(t, later.factory.Core().V1().Services().Informer().GetIndexer().Delete(service))
	later.sync(service)
	require.True(t, refused(address), "when the Service is deleted")
}

func TestATakenPortIsReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer other.Close()
	service := web(httpPort)
	service.Annotations = map[string]string{AddressesAnnotation: `{"80":"` + other.Addr().String() + `"}`}
	w.add(service)
	require.NotEqual(t, other.Addr().String(), w.address(80))
	require.False(t, refused(w.address(80)))
}

func TestServicesThatCannotHaveAnAddressHaveNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, change := range map[string]func(*corev1.Service){
		"headless": func(s *corev1.Service) { s.Spec.ClusterIP = corev1.ClusterIPNone },
		"external": func(s *corev1.Service) { s.Spec.Type, s.Spec.ClusterIP = corev1.ServiceTypeExternalName, "" },
		"udp":      func(s *corev1.Service) { s.Spec.Ports[0].Protocol = corev1.ProtocolUDP },
	} {
		service := web(httpPort)
		service.Name = name
		change(service)
		w.add(service)
		w.sync(service)
		require.Empty(t, w.service("default", name).Annotations, name)
	}
	require.Len(t, w.recorder.Events, 1, "warned once")
	require.Equal(t, "Warning UnsupportedProtocol port 80 has no address: UDP is not carried here", <-w.recorder.Events)
}

func TestConnectionsWithoutEndpointAreReportedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.endpoints("one", false, "10.244.0.1", "10.244.0.2")
	w.add(web(httpPort, corev1.ServicePort{Name: "mysql", Port: 3306}))
	for range 3 {
		status, text := get(t, w.address(80))
		require.Equal(t, http.StatusServiceUnavailable, status)
		require.Contains(t, text, "none of 2 is ready")
	}
	require.Equal(t, "Warning NoEndpoint a connection to port 80 was closed: no endpoint: none of 2 is ready",
		<-w.recorder.Events)
	require.Empty(t, w.recorder.Events)

	conn, err := net.Dial("tcp", w.address(3306))
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.ReadAll(conn)
	require.NoError(t, err, "it is closed")
	require.Equal(t, "Warning NoEndpoint a connection to port 3306 was closed: no endpoint: no pod is selected",
		<-w.recorder.Events)
}

func TestNodePortsAndLoadBalancersAnswerToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pod("10.244.0.1", "v1")
	w.endpoints("one", true, "10.244.0.1")
	free := freePort(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	service := web(corev1.ServicePort{Name: "http", Port: int32(portOf(taken.Addr().String())), NodePort: int32(free)})
	service.Spec.Type = corev1.ServiceTypeLoadBalancer
	w.add(service)
	_, text := get(t, net.JoinHostPort("127.0.0.1", strconv.Itoa(free)))
	require.Equal(t, "v1", text)
	ingress := w.service("default", "hello-world").Status.LoadBalancer.Ingress
	require.Len(t, ingress, 1)
	require.Equal(t, "127.0.0.1", ingress[0].IP)
	require.Equal(t, PortTaken, *ingress[0].Ports[0].Error)
	event, number := <-w.recorder.Events, strconv.Itoa(portOf(taken.Addr().String()))
	require.Contains(t, event, "PortTaken port "+number)
	service = w.service("default", "hello-world")
	require.Contains(t, event,
		"; port "+number+" of the Service answers at "+readAddresses(service)[service.Spec.Ports[0].Port])

	require.NoError(t, taken.Close())
	w.sync(service)
	require.Nil(t, w.service("default", "hello-world").Status.LoadBalancer.Ingress[0].Ports[0].Error)
	_, text = get(t, taken.Addr().String())
	require.Equal(t, "v1", text)

	service = w.service("default", "hello-world").DeepCopy()
	service.Spec.Type, service.Spec.Ports[0].NodePort = corev1.ServiceTypeClusterIP, 0
	w.add(service)
	require.True(t, refused(taken.Addr().String()))
}

func freePort(t *testing.T) int {
	t.Helper()
	port, err := containers.NewPorts().Take() // which the system gives to no one else
	require.NoError(t, err)
	return port
}

func TestPortsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var ports []corev1.ServicePort
	for i := range maxPorts + 1 {
		ports = append(ports, corev1.ServicePort{Name: fmt.Sprintf("p%d", i), Port: int32(i + 1)})
	}
	w.add(web(ports...))
	require.Len(t, readAddresses(w.service("default", "hello-world")), maxPorts)
	require.Contains(t, <-w.recorder.Events, "512 ports of Services have one, and more do not get one")
}

func TestAServiceSaysThatItsPodsAreSimulated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	slice := w.endpoints("one", true, "10.244.0.1")
	slice.Endpoints[0].TargetRef = &corev1.ObjectReference{Kind: "Pod", Name: "one"}
	pods := w.factory.Core().V1().Pods().Informer().GetIndexer()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "one", Annotations: map[string]string{kubelet.SimulatedKey: "true"},
	}}
	require.NoError(t, pods.Add(pod))
	w.add(web(httpPort))
	require.Equal(t, "true", w.service("default", "hello-world").Annotations[kubelet.SimulatedKey])

	pod = pod.DeepCopy()
	pod.Annotations = nil
	require.NoError(t, pods.Update(pod))
	w.sync(w.service("default", "hello-world"))
	require.NotContains(t, w.service("default", "hello-world").Annotations, kubelet.SimulatedKey)
}

func TestARetiredPodGetsNoMoreConnections(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pod("10.244.0.1", "v1")
	w.pod("10.244.0.2", "v2")
	w.endpoints("one", true, "10.244.0.1", "10.244.0.2")
	w.add(web(httpPort))
	w.proxy.Retire(t.Context(), "10.244.0.1")
	for range 4 {
		_, text := get(t, w.address(80))
		require.Equal(t, "v2", text)
	}
}

func TestRoutesReachThePodsOfAHeadlessService(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pod("10.244.0.1", "v1")
	w.pod("10.244.0.2", "v2")
	w.endpoints("one", true, "10.244.0.1", "10.244.0.2")
	service := web(httpPort)
	service.Spec.ClusterIP = corev1.ClusterIPNone
	w.add(service)
	require.Empty(t, w.address(80))
	name := types.NamespacedName{Namespace: "default", Name: "hello-world"}
	handler := relay.HTTP{Failed: func(error) {}, Choose: func(*http.Request) (relay.Dialer, error) {
		endpoints, err := w.proxy.Backend(name, 80, "")
		require.NoError(t, err)
		return endpoints.Dial, nil
	}}.Handler()
	counts := map[string]int{}
	for range 10 {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/", nil))
		counts[answer.Body.String()]++
	}
	require.Equal(t, map[string]int{"v1": 5, "v2": 5}, counts)
	w.proxy.Retire(t.Context(), "10.244.0.1")
	_, err := w.proxy.Backend(name, 80, "other")
	require.NoError(t, err, "the number counts")
	w.proxy.forget(name)
	require.Empty(t, w.proxy.headless.every())
}

func TestProgramsFindServicesByTheirEnvironment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	service := web(httpPort, corev1.ServicePort{Name: "db-admin", Port: 3306})
	require.NoError(t, w.factory.Core().V1().Services().Informer().GetIndexer().Add(service))
	other := web(httpPort)
	other.Namespace = "other"
	require.NoError(t, w.factory.Core().V1().Services().Informer().GetIndexer().Add(other))
	variables := w.proxy.Environment("default")
	w.sync(service)
	_, http, err := net.SplitHostPort(w.address(80))
	require.NoError(t, err)
	_, mysql, err := net.SplitHostPort(w.address(3306))
	require.NoError(t, err)
	require.Equal(t, map[string]string{
		"HELLO_WORLD_SERVICE_HOST":          "127.0.0.1",
		"HELLO_WORLD_SERVICE_PORT":          http,
		"HELLO_WORLD_SERVICE_PORT_HTTP":     http,
		"HELLO_WORLD_SERVICE_PORT_DB_ADMIN": mysql,
		"HELLO_WORLD_PORT":                  "tcp://127.0.0.1:" + http,
		"HELLO_WORLD_PORT_80_TCP":           "tcp://127.0.0.1:" + http,
		"HELLO_WORLD_PORT_80_TCP_PROTO":     "tcp",
		"HELLO_WORLD_PORT_80_TCP_PORT":      http,
		"HELLO_WORLD_PORT_80_TCP_ADDR":      "127.0.0.1",
		"HELLO_WORLD_PORT_3306_TCP":         "tcp://127.0.0.1:" + mysql,
		"HELLO_WORLD_PORT_3306_TCP_PROTO":   "tcp",
		"HELLO_WORLD_PORT_3306_TCP_PORT":    mysql,
		"HELLO_WORLD_PORT_3306_TCP_ADDR":    "127.0.0.1",
		"KUBERNETES_SERVICE_HOST":           "127.0.0.1",
		"KUBERNETES_SERVICE_PORT":           "6443",
		"KUBERNETES_SERVICE_PORT_HTTPS":     "6443",
		"KUBERNETES_PORT":                   "tcp://127.0.0.1:6443",
		"KUBERNETES_PORT_443_TCP":           "tcp://127.0.0.1:6443",
		"KUBERNETES_PORT_443_TCP_PROTO":     "tcp",
		"KUBERNETES_PORT_443_TCP_PORT":      "6443",
		"KUBERNETES_PORT_443_TCP_ADDR":      "127.0.0.1",
	}, variables)
	require.Len(t, w.proxy.Environment("empty"), 8, "the API server is everywhere")
}

func TestWhichPortsSpeakHTTP(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		port corev1.ServicePort
		http bool
	}{
		{corev1.ServicePort{Name: "http", Port: 9000}, true},
		{corev1.ServicePort{Name: "http-admin", Port: 9000}, true},
		{corev1.ServicePort{Name: "https", Port: 80}, false},
		{corev1.ServicePort{Name: "http2", Port: 80}, false},
		{corev1.ServicePort{Port: 80}, true},
		{corev1.ServicePort{Port: 5432}, false},
		{corev1.ServicePort{Name: "grpc", Port: 80}, false},
		{corev1.ServicePort{Name: "main", Port: 9000, AppProtocol: new("HTTP")}, true},
		{corev1.ServicePort{Name: "http", Port: 80, AppProtocol: new("kubernetes.io/h2c")}, false},
		{corev1.ServicePort{Name: "main", Port: 80, AppProtocol: new("kubernetes.io/ws")}, true},
	} {
		require.Equal(t, test.http, speaksHTTP(test.port), "%+v", test.port)
	}
}
