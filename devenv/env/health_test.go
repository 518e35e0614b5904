// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/none"
)

// health follows the components and problems of an environment.
type health struct {
	stream     deckv1.DeckService_WatchClient
	components map[string]*deckv1.Component
	problems   map[string]*deckv1.Problem
}

func watchHealth(t *testing.T, deck deckv1.DeckServiceClient) *health {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*wait)
	t.Cleanup(cancel)
	stream, err := deck.Watch(ctx, &deckv1.WatchRequest{})
	require.NoError(t, err)
	return &health{stream, map[string]*deckv1.Component{}, map[string]*deckv1.Problem{}}
}

// until waits for a state in which the condition holds.
func (h *health) until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for !condition() {
		response, err := h.stream.Recv()
		require.NoError(t, err, "waiting for %s; problems: %v", what, h.problems)
		for _, event := range response.GetEvents() {
			if c := event.GetComponent(); c != nil {
				h.components[c.GetName()] = c
			}
			if p := event.GetProblem(); p != nil {
				h.problems[p.GetId()] = p
			}
			delete(h.problems, event.GetRemoved().GetProblemId())
		}
	}
}

// untilProblem waits for a problem of a part, whose reason has these words.
func (h *health) untilProblem(t *testing.T, part, words string) (found *deckv1.Problem) {
	t.Helper()
	h.until(t, "a problem of "+part, func() bool {
		for _, p := range h.problems {
			if p.GetPart() == part && strings.Contains(p.GetReason(), words) {
				found = p
				return true
			}
		}
		return false
	})
	require.NotEmpty(t, found.GetNextStep())
	return found
}

// server is a Kubernetes API that answers questions for its health, or hangs.
type server struct {
	none.Provider
	kubeconfig string
	status     atomic.Int32 // 0 hangs
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	s.status.Store(http.StatusOK)
	ctx := t.Context()
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		code := int(s.status.Load())
		if code == 0 {
			select {
			case <-r.Context().Done():
			case <-ctx.Done():
			}
			return
		}
		w.WriteHeader(code)
	}))
	t.Cleanup(api.Close)
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: api.URL}
	config.Contexts["c"] = &clientcmdapi.Context{Cluster: "c"}
	config.CurrentContext = "c"
	require.NoError(t, clientcmd.WriteToFile(*config, s.kubeconfig))
	return s
}

func (s *server) Describe() cluster.Description {
	return cluster.Description{Kind: cluster.Existing, Kubeconfig: s.kubeconfig}
}

func TestAClusterThatDoesNotAnswerIsAProblemUntilItDoes(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "run")
	o := options(w)
	api := newServer(t)
	o.Clusters = []Cluster{{"b", func(Hooks) (cluster.Provider, error) { return api, nil }}}
	h := watchHealth(t, deck(t, w, up(t, o).address))
	h.until(t, "the cluster",
		func() bool { return h.components["kubernetes b"].GetState() == deckv1.Component_STATE_READY })
	for code, words := range map[int32]string{0: "no answer from http", http.StatusServiceUnavailable: "answers 503",
		http.StatusUnauthorized: "answers 401"} {
		api.status.Store(code)
		problem := h.untilProblem(t, "kubernetes b", words)
		require.Contains(t, problem.GetNextStep(), "kubectl --kubeconfig "+api.kubeconfig)
		h.until(t, "a degraded cluster",
			func() bool { return h.components["kubernetes b"].GetState() == deckv1.Component_STATE_DEGRADED })
		api.status.Store(http.StatusForbidden) // an answer to someone who may not look
		h.until(t, "a cluster that answers",
			func() bool { return h.components["kubernetes b"].GetState() == deckv1.Component_STATE_READY })
	}
}

func TestAPipedThatDoesNotConnectIsAProblem(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "run")
	h := watchHealth(t, deck(t, w, up(t, options(w)).address))
	problem := h.untilProblem(t, "piped process", "has not connected to the control plane")
	require.Contains(t, problem.GetNextStep(), "piped.log")
	h.until(t, "a degraded piped",
		func() bool { return h.components[componentPiped].GetState() == deckv1.Component_STATE_DEGRADED })
}

func TestALiveWorkingTreeThatIsGoneIsAProblem(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "run")
	o := options(w)
	o.Live = true
	h := watchHealth(t, deck(t, w, up(t, o).address))
	h.until(t, "the repository",
		func() bool { return h.components[componentRepository].GetState() == deckv1.Component_STATE_READY })
	root := w.SampleRepository()
	require.NoError(t, os.Rename(root, root+".aside"))
	h.untilProblem(t, partRoot, "is gone")
	require.NoError(t, os.Rename(root+".aside", root))
	h.until(t, "the working tree",
		func() bool { return h.components[componentRepository].GetState() == deckv1.Component_STATE_READY })
}

func TestADirectoryOfTheEnvironmentThatIsGoneIsAProblemWithTheProcessToEnd(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "run")
	h := watchHealth(t, deck(t, w, up(t, options(w)).address))
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(w.Dir, "piped", "tmp", "pids"))
		return err == nil
	}, wait, 10*time.Millisecond, "piped was started")
	require.NoError(t, os.Rename(w.Dir, w.Dir+".aside"))
	require.NoError(t, os.Mkdir(w.Dir, 0o700)) // as the next up would
	problem := h.untilProblem(t, partDisk, "was removed or replaced")
	require.Contains(t, problem.GetNextStep(), fmt.Sprintf("kill %d;", os.Getpid()))
	require.NoError(t, os.Rename(w.Dir, w.Dir+".other"))
	require.NoError(t, os.Rename(w.Dir+".aside", w.Dir))
	h.until(t, "the directory", func() bool {
		return !slices.ContainsFunc(slices.Collect(maps.Values(h.problems)),
			func(p *deckv1.Problem) bool { return p.GetPart() == partDisk })
	})
}
