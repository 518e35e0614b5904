// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/controlplane"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

// addressed is a cluster whose one Service has an address.
type addressed struct {
	cluster.Provider
	kubeconfig string
}

func (a addressed) Describe() cluster.Description {
	return cluster.Description{Kind: cluster.Embedded, Kubeconfig: a.kubeconfig, Local: true}
}

// serveService is an API server whose Service answers at the port that the test sets. It ends each watch at once.
func serveService(t *testing.T, port *string, mu *sync.Mutex) (kubeconfig string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") == "true" || r.URL.Path != "/api/v1/services" {
			_, _ = fmt.Fprint(w, `{"items": []}`)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		_, _ = fmt.Fprintf(w, `{"items": [{"metadata": {"name": "web", "namespace": "shop", "annotations": {
			"pipedeck.dev/addresses": "{\"80\":\"127.0.0.1:%s\"}"}}, "spec": {"ports": [{"port": 80}]}}]}`, *port)
	}))
	t.Cleanup(server.Close)
	kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, fmt.Appendf(nil, "current-context: a\ncontexts: [{name: a, context: "+
		"{cluster: a}}]\nclusters: [{name: a, cluster: {server: %q}}]\n", server.URL), 0o600))
	return kubeconfig
}

func TestTheFileForScriptsFollowsTheAddressesOfServices(t *testing.T) {
	t.Parallel()
	w, err := workspace.At(t.TempDir(), "demo")
	require.NoError(t, err)
	require.NoError(t, w.Create())
	var mu sync.Mutex
	port := "1001"
	kubeconfig := serveService(t, &port, &mu)
	e := &Environment{Options: Options{Workspace: w, Logger: slog.New(slog.DiscardHandler)}}
	e.server, err = controlplane.New(controlplane.Config{ProjectID: "p", PipedID: "piped", PipedName: "piped",
		PipedKey: "key", APIKey: "id.secret"})
	require.NoError(t, err)
	e.addresses = &addresses{env: e}
	e.clusters = runningClusters{{name: "local", provider: addressed{kubeconfig: kubeconfig}}}

	require.NoError(t, os.WriteFile(e.addresses.file(), []byte("of an earlier run"), 0o600))
	require.NoError(t, e.addresses.begin())
	require.NoFileExists(t, e.addresses.file(), "nothing answers there now")

	follow := func(c *runningCluster) (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			e.addresses.follow(ctx, c)
		}()
		return func() { cancel(); <-ended }
	}
	stop := follow(e.clusters[0])
	has := func(want string) {
		t.Helper()
		require.Eventually(t, func() bool {
			content, _ := os.ReadFile(e.addresses.file())
			return string(content) == want
		}, 20*time.Second, 5*time.Millisecond, want)
	}
	content := func(prefix, port string) string {
		return prefix + "_ADDRESS=127.0.0.1:" + port + "\n" +
			prefix + "_PORT_80_ADDRESS=127.0.0.1:" + port + "\n" +
			prefix + "_PORT_80_URL=http://127.0.0.1:" + port + "\n" +
			prefix + "_URL=http://127.0.0.1:" + port + "\n"
	}
	has(content("PIPEDECK_SERVICE_SHOP_WEB", "1001"))
	mu.Lock()
	port = "1002"
	mu.Unlock()
	has(content("PIPEDECK_SERVICE_SHOP_WEB", "1002"))
	stop()
	info, err := os.Stat(e.addresses.file())
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	e.clusters = append(e.clusters, &runningCluster{name: "eu-1", provider: addressed{kubeconfig: kubeconfig}})
	defer follow(e.clusters[1])()
	has(content("PIPEDECK_SERVICE_EU_1_SHOP_WEB", "1002") + content("PIPEDECK_SERVICE_LOCAL_SHOP_WEB", "1002"))
}
