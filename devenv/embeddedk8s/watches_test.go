// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// A client with informers of many kinds ends as many watches at once.
func TestTheClusterWorksOnAfterAClientWithManyWatchesHasGone(t *testing.T) {
	t.Parallel()
	server := startReady(t, t.TempDir())
	client := server.client(t)
	for _, name := range []string{"first", "second", "third"} {
		goWithManyWatches(t, server.client(t), name)
		create(t, client, deployment(name, corev1.PodTemplateSpec{Spec: podSpec("nginx:1.27")}))
		awaitAvailable(t, client, name)
	}
}

// goWithManyWatches opens watches and ends all of them while they have an event to take.
func goWithManyWatches(t *testing.T, client kubernetes.Interface, event string) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	maps := client.CoreV1().ConfigMaps("default")
	watches := make([]watch.Interface, 300)
	errs := make([]error, len(watches))
	var opening sync.WaitGroup
	for i := range watches {
		opening.Go(func() { watches[i], errs[i] = maps.Watch(ctx, metav1.ListOptions{}) })
	}
	opening.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	_, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: event}}, metav1.CreateOptions{})
	require.NoError(t, err)
	end()
	for _, w := range watches {
		w.Stop()
	}
}
