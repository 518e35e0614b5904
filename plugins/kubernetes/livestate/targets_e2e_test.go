// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package livestate

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/imagebuilder"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

const kubeconfigEnv = "PIPEDECK_TEST_KUBECONFIG"

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// world is a store, and a separate namespace in the API.
type world struct {
	t     *testing.T
	store *Store
	// changes receives when the store reports that the application has changed.
	changes   chan struct{}
	client    *cluster.Client
	local     stage.Target
	namespace string
	id        string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	path := os.Getenv(kubeconfigEnv)
	require.NotEmpty(t, path, "set %s to the kubeconfig of a running API", kubeconfigEnv)
	pool := cluster.NewPool()
	t.Cleanup(pool.Close)
	w := &world{t: t, local: stage.Target{Name: "local", Config: config.DeployTarget{KubeConfigPath: path}}}
	w.namespace = fmt.Sprintf("live-e2e-%d", time.Now().UnixNano())
	w.id = w.namespace
	w.store = NewStore(stage.NewLoader(manifest.NewLoader(), imagebuilder.Client{}, nil), pool)
	t.Cleanup(w.store.Close)
	w.store.reach, w.store.pause = 2*time.Second, time.Millisecond
	w.changes = make(chan struct{}, 1)
	w.store.mark = func(id string) {
		if id == w.id {
			select {
			case w.changes <- struct{}{}:
			default:
			}
		}
	}
	var err error
	w.client, err = pool.Reach(t.Context(), w.local.Config, 10*time.Second)
	require.NoError(t, err)
	namespaces := w.client.Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	_, err = namespaces.Create(t.Context(), named("v1", "Namespace", "", w.namespace), metav1.CreateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, namespaces.Delete(context.Background(), w.namespace, metav1.DeleteOptions{}))
	})
	return w
}

func named(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// source is a commit with the given files.
func (w *world) source(files map[string]string) *stage.Source {
	w.t.Helper()
	dir := w.t.TempDir()
	for name, text := range files {
		require.NoError(w.t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	s := &stage.Source{Dir: dir, CommitHash: "0123456789abcdef", ConfigFilename: "app.pipecd.yaml"}
	s.App.Input.Namespace = w.namespace
	require.NoError(w.t, s.App.Validate())
	return s
}

// put makes an object that piped has applied for the application.
func (w *world) put(gvr schema.GroupVersionResource, o *unstructured.Unstructured) *unstructured.Unstructured {
	w.t.Helper()
	o.SetNamespace(w.namespace)
	manifest.Stamp{
		PipedID: "piped", ApplicationID: w.id, CommitHash: "0123456789abcdef",
		VariantKey: config.DefaultVariantKey, Variant: config.DefaultPrimaryValue,
	}.Apply([]manifest.Manifest{{Unstructured: o}})
	made, err := w.client.Dynamic.Resource(gvr).Namespace(w.namespace).Create(w.t.Context(), o, metav1.CreateOptions{})
	require.NoError(w.t, err)
	return made
}

func (w *world) get(to ...Destination) *sdk.Livestate {
	w.t.Helper()
	state, err := w.store.Get(w.t.Context(), Query{PipedID: "piped", ApplicationID: w.id, Destinations: to})
	require.NoError(w.t, err)
	return state
}

const confYAML = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\ndata: {color: %s}\n"

func TestOneClusterThatIsAwayDoesNotHideTheOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(configMaps, parse(t, fmt.Sprintf(confYAML, "blue")))
	away, answers := w.away("away")
	blue := Destination{Target: w.local, Source: w.source(map[string]string{"conf.yaml": fmt.Sprintf(confYAML,
		"blue")})}
	red := Destination{Target: away, Source: w.source(map[string]string{"conf.yaml": fmt.Sprintf(confYAML, "red")})}

	state := w.get(red)
	require.Equal(t, sdk.SyncUnknown, state.Sync.Status)
	require.Contains(t, state.Sync.Reason, "The live state at away is not known: ")

	state = w.get(blue, red)
	require.Equal(t, sdk.SyncUnknown, state.Sync.Status)
	require.Contains(t, state.Sync.Reason, "The live state at away is not known: ")
	require.Len(t, state.Resources, 2)
	require.Equal(t, "local", state.Resources[0].DeployTarget)
	require.Equal(t, sdk.Healthy, state.Resources[0].Health)
	require.Equal(t, "away", state.Resources[1].DeployTarget)
	require.Equal(t, sdk.HealthUnknown, state.Resources[1].Health)

	answers()
	for state.Sync.Status != sdk.OutOfSync {
		select {
		case <-w.changes:
		case <-time.After(time.Minute):
			require.FailNow(t, "nothing was reported when the cluster answered")
		}
		state = w.get(blue, red)
	}
	require.Equal(t, `away: ConfigMap `+w.namespace+`/conf: data.color: "red" in Git, "blue" live`,
		state.Sync.ShortReason)
	require.Len(t, state.Resources, 2)
	require.NotEqual(t, state.Resources[0].ID, state.Resources[1].ID,
		"the same object, seen through two deploy targets")
}

func TestAnApplicationIsUnknownWhileItsClusterHangs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.store.pulse = 20 * time.Millisecond
	w.put(configMaps, parse(t, fmt.Sprintf(confYAML, "blue")))
	hanging, way := w.hangs("hanging")
	to := Destination{Target: hanging, Source: w.source(map[string]string{"conf.yaml": fmt.Sprintf(confYAML, "blue")})}
	becomes := func(want sdk.SyncStatus) {
		t.Helper()
		for w.get(to).Sync.Status != want {
			select {
			case <-w.changes:
			case <-time.After(time.Minute):
				require.FailNow(t, "nothing was reported", want)
			}
		}
	}
	becomes(sdk.Synced)
	for len(w.changes) > 0 {
		<-w.changes
	}
	way.hang()
	<-w.changes // by itself
	becomes(sdk.SyncUnknown)
	state := w.get(to)
	require.Equal(t, sdk.HealthUnknown, state.Resources[0].Health)
	require.Contains(t, state.Sync.ShortReason, "waiting for the Kubernetes API")
	way.goOn()
	becomes(sdk.Synced)
}

// hanging is a server that can be made to hang: it accepts connections and takes what it is sent.
type hanging struct {
	mu   sync.Mutex
	wait chan struct{} // closed while it answers
}

func (h *hanging) hang() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wait = make(chan struct{})
}

func (h *hanging) goOn() {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.wait)
}

func (h *hanging) waiting() chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.wait
}

// hangs gives a deploy target that leads to the API, and what makes it hang.
func (w *world) hangs(name string) (stage.Target, *hanging) {
	w.t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", os.Getenv(kubeconfigEnv))
	require.NoError(w.t, err)
	transport, err := rest.TransportFor(cfg)
	require.NoError(w.t, err)
	api, err := url.Parse(cfg.Host)
	require.NoError(w.t, err)
	proxy := httputil.NewSingleHostReverseProxy(api)
	proxy.Transport, proxy.FlushInterval = transport, -1
	h := &hanging{wait: make(chan struct{})}
	close(h.wait)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		select {
		case <-h.waiting():
			proxy.ServeHTTP(rw, req)
		case <-req.Context().Done():
		}
	}))
	w.t.Cleanup(func() {
		w.store.Close() // or it would watch again as soon as its connections are closed
		server.CloseClientConnections()
		server.Close()
	})
	kubeconfig := clientcmdapi.NewConfig()
	kubeconfig.Clusters["c"] = &clientcmdapi.Cluster{Server: server.URL}
	kubeconfig.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	kubeconfig.AuthInfos["u"] = &clientcmdapi.AuthInfo{}
	kubeconfig.CurrentContext = "x"
	path := filepath.Join(w.t.TempDir(), "kubeconfig")
	require.NoError(w.t, clientcmd.WriteToFile(*kubeconfig, path))
	return stage.Target{Name: name, Config: config.DeployTarget{KubeConfigPath: path}}, h
}

// away gives a deploy target that no one answers for until answers is called: then it leads to the API.
func (w *world) away(name string) (target stage.Target, answers func()) {
	w.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(w.t, err)
	kubeconfig, err := clientcmd.LoadFromFile(os.Getenv(kubeconfigEnv))
	require.NoError(w.t, err)
	var api *url.URL
	for _, c := range kubeconfig.Clusters {
		api, err = url.Parse(c.Server)
		require.NoError(w.t, err)
		c.Server = "https://" + listener.Addr().String()
	}
	path := filepath.Join(w.t.TempDir(), "kubeconfig")
	require.NoError(w.t, clientcmd.WriteToFile(*kubeconfig, path))
	var open atomic.Bool
	forward(w.t, listener, api.Host, &open)
	return stage.Target{Name: name, Config: config.DeployTarget{KubeConfigPath: path}}, func() { open.Store(true) }
}

// forward carries connections until the test ends, and drops them while the way is not open.
func forward(t *testing.T, listener net.Listener, to string, way *atomic.Bool) {
	var work sync.WaitGroup
	var mu sync.Mutex
	open := []io.Closer{listener}
	t.Cleanup(func() {
		mu.Lock()
		for _, c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		work.Wait()
	})
	work.Go(func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			if !way.Load() {
				_ = in.Close()
				continue
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				_ = in.Close()
				continue
			}
			mu.Lock()
			open = append(open, in, out)
			mu.Unlock()
			work.Go(func() { _, _ = io.Copy(in, out); _ = in.Close() })
			work.Go(func() { _, _ = io.Copy(out, in); _ = out.Close() })
		}
	})
}
