// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package podlog

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/cluster/kubeapi"
)

// serve is a cluster with the pod default/web, whose logs are by container; those of the run before have a "-" before
// the name. release lets the logs that follow end.
func serve(t *testing.T, pod string, logs map[string]string, release <-chan struct{}) *kubeapi.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		name := query.Get("container")
		if query.Get("previous") == "true" {
			name = "-" + name
		}
		switch text, found := logs[name]; {
		case r.URL.Path == "/api/v1/namespaces/default/pods/web":
			_, _ = fmt.Fprint(w, pod)
		case r.URL.Path != "/api/v1/namespaces/default/pods/web/log" || query.Get("timestamps") != "true":
			http.NotFound(w, r)
		case !found:
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprintf(w, `{"message": "container %s is waiting to start"}`, name)
		default:
			_, _ = fmt.Fprint(w, text)
			w.(http.Flusher).Flush()
			if query.Get("follow") == "true" {
				select {
				case <-release:
				case <-r.Context().Done():
				}
			}
		}
	}))
	t.Cleanup(server.Close)
	api, err := kubeapi.Open(fmt.Appendf(nil, "current-context: a\ncontexts: [{name: a, context: {cluster: a}}]\n"+
		"clusters: [{name: a, cluster: {server: %q}}]\n", server.URL))
	require.NoError(t, err)
	t.Cleanup(api.Close)
	return api
}

// closed lets everything end at once.
func closed() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

const stamp = "2026-11-24T04:00:00.5Z "

func TestTheLogOfAPodBeginsWithTheRunBeforeAndIsFollowed(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	long := strings.Repeat("x", maxLine+10)
	api := serve(t, `{"spec": {"containers": [{"name": "main"}]},
		"status": {"containerStatuses": [{"name": "main", "restartCount": 2}]}}`,
		map[string]string{"-main": stamp + "panic: no config\n",
			"main": stamp + "listening\n" + stamp + long + "\n"}, release)
	lines, ended := make(chan Line, 10), make(chan error, 1)
	go func() {
		ended <- Follow(t.Context(), api, "default", "web", func(some []Line) error {
			for _, one := range some {
				lines <- one
			}
			return nil
		})
	}()
	at := time.Date(2026, 11, 24, 4, 0, 0, 5e8, time.UTC)
	require.Equal(t, Line{at, "panic: no config"}, <-lines)
	require.Equal(t, Line{Text: "(started again, 2 so far)"}, <-lines)
	require.Equal(t, Line{at, "listening"}, <-lines)
	first, rest := <-lines, <-lines
	require.Equal(t, long, first.Text+rest.Text)
	require.True(t, rest.Time.IsZero(), "it goes on from the line before")
	require.Empty(t, ended, "it is followed")
	close(release)
	require.NoError(t, <-ended)
}

func TestLinesOfSeveralContainersBeginWithTheirNames(t *testing.T) {
	t.Parallel()
	api := serve(t, `{"spec": {"initContainers": [{"name": "init"}],
		"containers": [{"name": "main"}, {"name": "late"}]}}`,
		map[string]string{"init": stamp + "done\n", "main": "no time\n"}, closed())
	texts := map[string]bool{}
	require.NoError(t, Follow(t.Context(), api, "default", "web", func(some []Line) error {
		for _, one := range some {
			texts[one.Text] = true
		}
		return nil
	}))
	require.Equal(t, map[string]bool{"init  done": true, "main  no time": true,
		"late  (container late is waiting to start)": true}, texts)
}

func TestAPodWithoutALogSaysWhy(t *testing.T) {
	t.Parallel()
	api := serve(t, `{"spec": {"containers": [{"name": "main"}]}}`, nil, closed())
	never := func([]Line) error { return context.Canceled }
	require.ErrorContains(t, Follow(t.Context(), api, "default", "web", never), "container main is waiting to start")
	require.ErrorContains(t, Follow(t.Context(), api, "default", "gone", never), "404")
}
