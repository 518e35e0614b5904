// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && kind

package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKindTheTourIsPlayedAndItsClusterIsRemoved(t *testing.T) {
	t.Parallel()
	e := onKind(t)
	requireInOrder(t, e.demo(kind("tour", "--cluster", "kind")...), tourScreens...)
	require.Empty(t, e.containers(), "the cluster of the story is removed")
}
