// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package clustertest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pipedeck/pipedeck/devenv/cluster"
)

// patience is far above what a slow machine needs for any one step.
const patience = 5 * time.Minute

// Place is where a provider keeps its files; the same place is the same cluster.
type Place struct {
	Dir, Kubeconfig, LogFile string
}

// Suite describes a provider.
type Suite struct {
	// New makes a provider without starting anything.
	New  func(t *testing.T, at Place) cluster.Provider
	Kind cluster.Kind
	// Simulated is that of the description.
	Simulated bool
	// NoImages says that LoadImage gives cluster.ErrNoImages.
	NoImages bool
	// Moments are words of the progress at which a creation is interrupted.
	Moments []string
	// Left names what exists of a cluster, on the disk and elsewhere.
	Left func(t *testing.T, at Place) []string
}

// Run runs the suite. The clusters are made one after the other.
func (s Suite) Run(t *testing.T) {
	t.Run("a cluster is made, filled, left, adopted and deleted", s.life)
	for _, moment := range s.Moments {
		t.Run("a creation that is interrupted leaves nothing: "+moment, func(t *testing.T) { s.interrupted(t, moment) })
	}
	t.Run("there may be nothing to delete", s.nothing)
}

func (s Suite) place(t *testing.T) Place {
	t.Helper()
	root := t.TempDir()
	at := Place{filepath.Join(root, "cluster"), filepath.Join(root, "kubeconfig"), filepath.Join(root, "log")}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		require.NoError(t, s.New(t, at).Delete(ctx))
	})
	return at
}

func (s Suite) life(t *testing.T) {
	at := s.place(t)
	first := start(s.New(t, at))
	t.Cleanup(first.end)
	require.NotEmpty(t, first.awaitReady(t))
	require.Equal(t, cluster.Description{Kind: s.Kind, Simulated: s.Simulated, Kubeconfig: at.Kubeconfig},
		first.provider.Describe())
	info, err := os.Stat(at.Kubeconfig)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	client := connect(t, at.Kubeconfig)
	requireReadyNode(t, client)
	keep(t, client, "kept")

	archive, reference := imageArchive(t)
	err = first.provider.LoadImage(t.Context(),
		cluster.Image{Archive: archive, References: []string{reference}})
	if s.NoImages {
		require.ErrorIs(t, err, cluster.ErrNoImages)
	} else {
		require.NoError(t, err)
		requireImageKnown(t, client, reference)
		require.Error(t, first.provider.LoadImage(t.Context(),
			cluster.Image{Archive: filepath.Join(at.Dir, "missing.tar"), References: []string{reference}}))
	}

	require.NoError(t, first.stop(t), "the end of its context is no failure")
	second := start(s.New(t, at))
	t.Cleanup(second.end)
	require.NotEmpty(t, second.awaitReady(t))
	client = connect(t, at.Kubeconfig)
	requireReadyNode(t, client)
	_, err = client.CoreV1().ConfigMaps(metav1.NamespaceDefault).Get(t.Context(), "kept", metav1.GetOptions{})
	require.NoError(t, err, "an adopted cluster has its objects")
	require.NoError(t, second.stop(t))

	require.NotEmpty(t, s.Left(t, at), "otherwise this test could not fail")
	require.NoError(t, second.provider.Delete(t.Context()))
	require.Empty(t, s.Left(t, at))
	require.NoFileExists(t, at.Kubeconfig)
	require.NoError(t, second.provider.Delete(t.Context()), "there may be nothing to delete")
}

func (s Suite) interrupted(t *testing.T, moment string) {
	at := s.place(t)
	r := start(s.New(t, at))
	t.Cleanup(r.end)
	r.awaitProgress(t, moment)
	require.NoError(t, r.stop(t))
	require.Empty(t, s.Left(t, at))
	require.NoFileExists(t, at.Kubeconfig)
}

func (s Suite) nothing(t *testing.T) {
	at := s.place(t)
	require.NoError(t, s.New(t, at).Delete(t.Context()))
	require.Empty(t, s.Left(t, at))
}

// running is a provider at work.
type running struct {
	provider cluster.Provider
	cancel   context.CancelFunc
	progress chan string
	ready    chan string
	done     chan struct{}
	err      error
}

func start(p cluster.Provider) *running {
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{provider: p, cancel: cancel, progress: make(chan string, 1024), ready: make(chan string, 16),
		done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.err = p.Run(ctx,
			func(detail string, _, _ int64) { r.progress <- detail },
			func(detail string) { r.ready <- detail })
	}()
	return r
}

func (r *running) awaitReady(t *testing.T) string {
	t.Helper()
	select {
	case detail := <-r.ready:
		return detail
	case <-r.done:
		require.NoError(t, r.err)
		require.FailNow(t, "it ended before it was ready")
	case <-time.After(patience):
		require.FailNow(t, "it is not ready in time")
	}
	return ""
}

func (r *running) awaitProgress(t *testing.T, words string) {
	t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case detail := <-r.progress:
			if strings.Contains(detail, words) {
				return
			}
		case <-r.done:
			require.NoError(t, r.err)
			require.FailNow(t, "it ended before that moment")
		case <-deadline:
			require.FailNow(t, "that moment did not come")
		}
	}
}

// stop ends the context and returns what Run returned.
func (r *running) stop(t *testing.T) error {
	t.Helper()
	r.cancel()
	select {
	case <-r.done:
		return r.err
	case <-time.After(patience):
		require.FailNow(t, "it does not end")
		return nil
	}
}

// end is for tests that have failed.
func (r *running) end() {
	r.cancel()
	<-r.done
}
