// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommandsOfDialogsFindTheEnvironment(t *testing.T) {
	t.Parallel()
	a := &actions{host: &host{cfg: Config{Name: "demo", Flags: " --name demo --state-dir /s"}}}
	require.Equal(t, "pipedeck skip 'my app' WAIT --name demo --state-dir /s",
		a.command([]string{"skip", "my app", "WAIT"}))
}
