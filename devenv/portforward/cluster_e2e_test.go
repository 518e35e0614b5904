// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package portforward

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Real pods: PIPEDECK_TEST_KUBECONFIG names a cluster that runs containers and has
// PIPEDECK_TEST_IMAGE, an image of sample-apps/hello-world. The tests create their own namespaces.

const longest = 90 * time.Second

var (
	namespaces  = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

// world is an application in its own namespace, and a forwarder.
type world struct {
	t         *testing.T
	cluster   *cluster
	namespace string
	forwarder *Forwarder
	request   Request
}

func newWorld(t *testing.T) *world {
	t.Helper()
	kubeconfig, image := os.Getenv("PIPEDECK_TEST_KUBECONFIG"), os.Getenv("PIPEDECK_TEST_IMAGE")
	require.True(t, kubeconfig != "" && image != "",
		"set PIPEDECK_TEST_KUBECONFIG to a cluster that runs containers, and PIPEDECK_TEST_IMAGE to an image of "+
			"sample-apps/hello-world that it has (see tools/e2e-kind.sh)")
	c, err := connect(kubeconfig)
	require.NoError(t, err)
	t.Cleanup(c.close)
	id := "open-" + uuid.NewString()[:8]
	w := &world{
		t: t, cluster: c, namespace: id,
		forwarder: New(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))),
		request:   Request{Cluster: "kubernetes", Kubeconfig: kubeconfig, ApplicationID: id, Name: "web"},
	}
	w.create(namespaces, "", fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", id))
	t.Cleanup(func() {
		require.NoError(t, c.objects.Resource(namespaces).Delete(context.Background(), id, metav1.DeleteOptions{}))
	})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); w.forwarder.Run(ctx) }()
	t.Cleanup(func() { stop(); <-ended })
	return w
}

func (w *world) create(resource schema.GroupVersionResource, namespace, text string) {
	w.t.Helper()
	var object map[string]any
	require.NoError(w.t, yaml.Unmarshal([]byte(text), &object))
	_, err := w.cluster.objects.Resource(resource).Namespace(namespace).Create(w.t.Context(),
		&unstructured.Unstructured{Object: object}, metav1.CreateOptions{})
	require.NoError(w.t, err)
}

func (w *world) patch(patch string) {
	w.t.Helper()
	_, err := w.cluster.objects.Resource(deployments).Namespace(w.namespace).Patch(w.t.Context(), "web",
		types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
	require.NoError(w.t, err)
}

const probe = `          readinessProbe: {httpGet: {path: /healthz, port: http}, periodSeconds: 1}
`

func (w *world) deploy(more string) {
	w.create(
		deployments,
		w.namespace,
		strings.NewReplacer("ID", w.namespace, "IMAGE", os.Getenv("PIPEDECK_TEST_IMAGE")).Replace(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {pipecd.dev/application: ID}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: web
          image: IMAGE
          ports: [{name: http, containerPort: 8080}]
          env: [{name: VERSION, value: one}]
`+more),
	)
}

func (w *world) serve(port string) {
	w.create(serviceResource, w.namespace, fmt.Sprintf(`
apiVersion: v1
kind: Service
metadata: {name: web, labels: {pipecd.dev/application: %s}}
spec: {selector: {app: web}, ports: [%s]}
`, w.namespace, port))
}

// open asks until a pod is ready.
func (w *world) open() Address {
	w.t.Helper()
	var a Address
	w.await("it can be reached", func() bool {
		var err error
		a, err = w.forwarder.Open(w.t.Context(), w.request)
		return err == nil
	})
	return a
}

func (w *world) await(what string, done func() bool) {
	w.t.Helper()
	require.Eventually(w.t, done, longest, 50*time.Millisecond, what)
}

func get(ctx context.Context, client *http.Client, url string) (int, string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

func TestRequestsAreSpreadOverThePodsAndNoneFailsWhileTheyAreReplaced(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]string{"that report when they are ready": probe,
		"that are called ready before they listen": ""} {
		t.Run("pods "+name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.deploy(more)
			w.serve("{name: http, port: 80, targetPort: http}")
			a := w.open()
			require.Contains(t, a.Detail, "Service "+w.namespace+"/web, port http, ")

			var answers sync.Map
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			w.await("every pod answers on one kept connection", func() bool {
				status, text, err := get(t.Context(), client, a.URL)
				require.NoError(t, err)
				require.Equal(t, http.StatusOK, status, text)
				answers.Store(text, true)
				n := 0
				answers.Range(func(any, any) bool { n++; return true })
				return n == 2
			})

			var requests atomic.Int64
			ctx, stop := context.WithCancel(t.Context())
			var workers sync.WaitGroup
			for i := range 4 {
				workers.Go(func() {
					client := &http.Client{Transport: &http.Transport{DisableKeepAlives: i%2 == 0}}
					defer client.CloseIdleConnections()
					for ctx.Err() == nil {
						status, text, err := get(context.Background(), client, a.URL)
						if err != nil || status != http.StatusOK {
							t.Errorf("request %d: %v, status %d: %s", requests.Load(), err, status, text)
							return
						}
						requests.Add(1)
					}
				})
			}
			for _, version := range []string{"two", "three"} {
				w.patch(`{"spec":{"template":{"spec":{"containers":[{"name":"web","env":[{"name":"VERSION","value":"` +
					version + `"}]}]}}}}`)
				w.await("version "+version+" is everywhere", func() bool {
					for range 8 {
						_, text, err := get(t.Context(), client, a.URL)
						if err != nil || !strings.Contains(text, "version "+version) {
							return false
						}
					}
					return true
				})
			}
			stop()
			workers.Wait()
			t.Logf("%d requests", requests.Load())
			require.Greater(t, requests.Load(), int64(20), "they went on all the time")

			again, err := w.forwarder.Open(t.Context(), w.request)
			require.NoError(t, err)
			require.Equal(t, a.URL, again.URL)
		})
	}
}

func TestAForwardWaitsForPodsAndGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(probe)
	w.serve("{port: 80, targetPort: 8080}")
	a := w.open()
	w.patch(`{"spec":{"replicas":0}}`)
	w.await("it says that no pod is there", func() bool {
		status, text, err := get(t.Context(), newClient(t), a.URL)
		require.NoError(t, err)
		return status == http.StatusServiceUnavailable && strings.Contains(text, "has no pod yet")
	})
	w.patch(`{"spec":{"replicas":1}}`)
	w.await("a new pod answers", func() bool {
		status, _, err := get(t.Context(), newClient(t), a.URL)
		require.NoError(t, err)
		return status == http.StatusOK
	})
}

func TestAnyTCPReachesAPodAlsoWithoutAService(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(probe)
	a := w.open()
	require.True(t, strings.HasPrefix(a.URL, "http://"), a.URL)
	require.Contains(t, a.Detail, "Deployment "+w.namespace+"/web, port http, ")
	status, text, err := get(t.Context(), newClient(t), a.URL)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status, text)

	w.serve("{name: anything, port: 4000, targetPort: http}")
	w.request.Port = "anything"
	a = w.open()
	conn, err := net.Dial("tcp", a.URL)
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "GET / HTTP/1.0\r\n\r\n")
	require.NoError(t, err)
	answer, err := io.ReadAll(conn)
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(answer, []byte("HTTP/1.0 200 OK")), "%s", answer)
}

func TestServersWithoutWebSocketsAreReachedBySPDY(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(probe)
	w.open()
	var ready pod
	for _, f := range w.forwarder.forwards {
		ready, _, _ = f.endpoints.pick(newTried())
	}
	address, err := w.cluster.podAddress(ready.namespace, ready.name)
	require.NoError(t, err)
	conn, err := w.cluster.dialSPDY(t.Context(), address)
	require.NoError(t, err)
	defer conn.Close()
	tunnel := newTunnel()
	tunnel.conn = conn
	close(tunnel.dialed)
	s, err := tunnel.open(t.Context(), 8080)
	require.NoError(t, err)
	_, err = io.WriteString(s, "GET /healthz HTTP/1.0\r\n\r\n")
	require.NoError(t, err)
	answer, err := io.ReadAll(s)
	require.NoError(t, err)
	require.Contains(t, string(answer), "ok")
	require.NoError(t, s.Close())

	refused, err := tunnel.open(t.Context(), 9)
	require.NoError(t, err)
	_, err = io.ReadAll(refused)
	require.ErrorIs(t, err, errUndelivered)
	require.NoError(t, refused.Close())
}
