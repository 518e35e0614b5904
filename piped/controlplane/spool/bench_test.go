// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"testing"

	ps "github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/piped/controlplane"
)

// BenchmarkReport is one report over a connection: without the spool, through one that is empty, and into
// one while the control plane is away.
func BenchmarkReport(b *testing.B) {
	w := newWorld(b)
	s := w.open(b, b.TempDir(), bounds(1<<40, 1<<30))
	report := func(client ps.PipedServiceClient) func(*testing.B) {
		return func(b *testing.B) {
			for b.Loop() {
				stage(b, client, "a")
			}
		}
	}
	b.Run("without", report(w.dial(b, nil, controlplane.Layers{})))
	b.Run("empty", report(s))
	w.stop()
	b.Run("away", report(s))
}
