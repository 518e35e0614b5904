// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package kind

import (
	"log/slog"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/clustertest"
)

// nodeImageVariable names the node image; without it, kind's own is used.
const nodeImageVariable = "PIPEDECK_TEST_NODE_IMAGE"

// requireEngine skips on machines without containers.
func requireEngine(t *testing.T) *engineCommand {
	t.Helper()
	found, err := findEngine(t.Context())
	if err != nil {
		t.Skipf("kind needs a container engine: %v", err)
	}
	return found
}

func newForTest(_ *testing.T, at clustertest.Place) cluster.Provider { return providerAt(at) }

func providerAt(at clustertest.Place) *Provider {
	return New(Config{
		Environment: "test", Cluster: "suite", Dir: at.Dir, Kubeconfig: at.Kubeconfig, LogFile: at.LogFile,
		NodeImage: os.Getenv(nodeImageVariable), Logger: slog.New(slog.DiscardHandler),
	})
}

func TestKindConforms(t *testing.T) {
	engine := requireEngine(t)
	clustertest.Suite{
		New: newForTest, Kind: cluster.InDocker,
		Moments: []string{"Preparing nodes", "Writing configuration", "Starting control-plane", "Installing CNI",
			"waiting for 1 node"},
		Left: func(t *testing.T, at clustertest.Place) []string {
			left, err := engine.nodes(t.Context(), providerAt(at).name)
			require.NoError(t, err)
			if entries, err := os.ReadDir(at.Dir); err == nil {
				for _, entry := range entries {
					left = append(left, entry.Name())
				}
			}
			return left
		},
	}.Run(t)
}
