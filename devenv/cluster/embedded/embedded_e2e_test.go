// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package embedded

import (
	"log/slog"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/clustertest"
)

func TestEmbeddedConforms(t *testing.T) {
	program, err := FromCheckout(".")
	require.NoError(t, err)
	clustertest.Suite{
		New: func(_ *testing.T, at clustertest.Place) cluster.Provider {
			return New(Config{Program: program, Dir: at.Dir, Kubeconfig: at.Kubeconfig, LogFile: at.LogFile,
				Logger: slog.New(slog.DiscardHandler)})
		},
		Kind: cluster.Embedded, Simulated: true,
		Left: func(t *testing.T, at clustertest.Place) []string {
			entries, err := os.ReadDir(at.Dir)
			if !os.IsNotExist(err) {
				require.NoError(t, err)
			}
			var left []string
			for _, entry := range entries {
				left = append(left, entry.Name())
			}
			return left
		},
	}.Run(t)
}
