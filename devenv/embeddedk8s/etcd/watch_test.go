// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package etcd_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/etcd"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/pki"
)

func TestAWatchStillReportsAfterManyHaveEndedAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files, err := pki.Ensure(filepath.Join(dir, "pki"), time.Now())
	require.NoError(t, err)
	server, err := etcd.Start(t.Context(), filepath.Join(dir, "etcd"), files)
	require.NoError(t, err)
	defer server.Close()
	client := server.Client()
	kept := client.Watch(t.Context(), "kept")
	for round := range 5 {
		ctx, endAll := context.WithCancel(t.Context())
		for range 500 {
			client.Watch(ctx, "shared")
		}
		// Each of them has an event to take while it ends.
		_, err := client.Put(t.Context(), "shared", "value")
		require.NoError(t, err)
		endAll()

		key := fmt.Sprintf("new%d", round)
		opened := make(chan clientv3.WatchChan, 1)
		go func() { opened <- client.Watch(t.Context(), key) }()
		fresh := await(t, opened, "a new watch is opened")
		for _, key := range []string{key, "kept"} {
			_, err = client.Put(t.Context(), key, "value")
			require.NoError(t, err)
		}
		requireEvent(t, key, await(t, fresh, "the new watch reports"))
		requireEvent(t, "kept", await(t, kept, "a watch of before reports"))
	}
}

func requireEvent(t *testing.T, key string, response clientv3.WatchResponse) {
	t.Helper()
	require.NoError(t, response.Err())
	require.Len(t, response.Events, 1)
	require.Equal(t, key, string(response.Events[0].Kv.Key))
}

// await returns what a channel delivers.
func await[T any](t *testing.T, from <-chan T, what string) T {
	t.Helper()
	timeout := time.NewTimer(10 * time.Second)
	defer timeout.Stop()
	select {
	case value, ok := <-from:
		require.True(t, ok, what)
		return value
	case <-timeout.C:
		require.FailNow(t, "not within 10s: "+what)
	}
	panic("unreachable")
}
