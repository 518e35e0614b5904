// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/kubeapi"
)

func named(names ...string) nodeImage { return nodeImage{Names: names} }

func TestANameBelongsToTheImageThatWasLoadedLast(t *testing.T) {
	before := []nodeImage{named("web:1", "web:v1"), named("other:v1")}
	after := addImage(before, named("web:2", "web:v1"))
	require.Equal(t, []nodeImage{named("web:1"), named("other:v1"), named("web:2", "web:v1")}, after)
	require.Equal(t, named("web:1", "web:v1"), before[0], "what is shared is not changed")
	require.Equal(t, []nodeImage{named("other:v1"), named("web:2", "web:v1"), named("web:1")},
		addImage(after, named("web:1")), "it comes last")
}

func TestTheListOfImagesIsBounded(t *testing.T) {
	var images []nodeImage
	for i := range maxImages + 1 {
		images = addImage(images, named(fmt.Sprint(i)))
	}
	require.Len(t, images, maxImages)
	require.Equal(t, named("1"), images[0], "the oldest goes first")
}

func TestAnImageWaitsForTheNodeAndForItsTurn(t *testing.T) {
	t.Parallel()
	events := make(chan string, 4)
	var patches []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch {
			body, _ := io.ReadAll(r.Body)
			patches = append(patches, r.URL.Path+" "+string(body))
			if len(patches) == 1 {
				w.WriteHeader(http.StatusConflict)
				events <- nodeEvent("MODIFIED", "3", "True")
			}
			return
		}
		assert.Equal(t, "/api/v1/nodes?labelSelector="+url.QueryEscape(nodeLabel)+"&watch=true", r.URL.String())
		for {
			select {
			case text := <-events:
				_, _ = io.WriteString(w, text)
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				return
			}
		}
	}))
	defer server.Close()
	client, err := kubeapi.Open([]byte("current-context: c\ncontexts: [{name: c, context: {cluster: c}}]\n" +
		"clusters: [{name: c, cluster: {server: " + server.URL + "}}]\n"))
	require.NoError(t, err)
	events <- nodeEvent("ADDED", "1", "False")
	events <- nodeEvent("DELETED", "1", "True")
	events <- nodeEvent("ADDED", "2", "True")
	done, err := tryChangeImages(t.Context(), client,
		func(images []nodeImage) []nodeImage { return addImage(images, named("web:v1")) })
	require.NoError(t, err)
	require.True(t, done)
	status := `"},"status":{"images":[{"names":["old"]},{"names":["web:v1"]}]}}`
	require.Equal(t, []string{
		`/api/v1/nodes/embedded/status {"metadata":{"resourceVersion":"2` + status,
		`/api/v1/nodes/embedded/status {"metadata":{"resourceVersion":"3` + status,
	}, patches, "the first meets with a conflict")
}

// nodeEvent is one of a watch of the node.
func nodeEvent(kind, version, ready string) string {
	return fmt.Sprintf(`{"type": %q, "object": {"metadata": {"name": "embedded", "resourceVersion": %q}, "status": `+
		`{"conditions": [{"type": "Ready", "status": %q}], "images": [{"names": ["old"]}]}}}`+"\n", kind, version,
		ready)
}

func TestAnArchiveThatIsNotThereIsNotLoaded(t *testing.T) {
	p := &Provider{kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	require.ErrorContains(t, p.LoadImage(context.Background(),
		cluster.Image{Archive: filepath.Join(t.TempDir(), "gone.tar"), References: []string{"web:v1"}}), "gone.tar")
	require.ErrorContains(t, p.LoadImage(context.Background(),
		cluster.Image{Archive: t.TempDir(), References: []string{"web:v1"}}), "it is no file")
	require.ErrorContains(t, p.LoadImage(context.Background(),
		cluster.Image{References: []string{"web:v1"}}), "reach the embedded Kubernetes")
}

func TestWhereImagesRunAsProcessesANameAloneIsRefused(t *testing.T) {
	dir := t.TempDir()
	p := &Provider{kubeconfig: filepath.Join(dir, "kubeconfig"), programs: storeOf(t, filepath.Join(dir, "programs"))}
	require.ErrorIs(t, p.LoadImage(t.Context(), cluster.Image{References: []string{"web:v1"}}), cluster.ErrNeedsArchive)
}
