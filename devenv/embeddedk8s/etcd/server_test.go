// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package etcd_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/etcd"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/pki"
)

// electedWithin is less than an election timeout of a member that waits for others.
const electedWithin = 4 * time.Second

func TestAMemberKeepsItsDataOverStarts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files, err := pki.Ensure(filepath.Join(dir, "pki"), time.Now())
	require.NoError(t, err)
	written := 0
	for range 5 {
		began := time.Now()
		server, err := etcd.Start(t.Context(), filepath.Join(dir, "etcd"), files)
		require.NoError(t, err)
		require.Less(t, time.Since(began), electedWithin, "it waited for other members")
		before, err := server.Client().Get(t.Context(), "key", clientv3.WithPrefix(), clientv3.WithCountOnly())
		require.NoError(t, err)
		require.EqualValues(t, written, before.Count)
		for range 400 { // so that snapshots are made meanwhile, and entries of the log are left out
			_, err := server.Client().Put(t.Context(), fmt.Sprintf("key%d", written), "value")
			require.NoError(t, err)
			written++
		}
		server.Close()
	}
}
