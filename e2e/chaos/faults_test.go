// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryFaultCanBePlantedInTheSources(t *testing.T) {
	t.Parallel()
	for _, f := range faults() {
		changed, err := f.plant("../..")
		require.NoError(t, err, f.name)
		require.Contains(t, changed, f.new)
	}
}
