// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/failpoint/failpointtest"
)

func TestReportsAreNotDeliveredToAnotherControlPlane(t *testing.T) {
	t.Parallel()
	gate := failpointtest.NewGate(t)
	e := newEnvironment(t, pipeline(`{do: hold-once, file: "`+gate.Path+`"}`))
	f := newFront(t, e)
	p := e.start(t)
	gate.Await(t)
	f.kill()
	gate.Open()
	p.awaitOutput(t, "deployment ended")
	p.terminate(t)
	kept := e.kept(t)
	require.NotEmpty(t, kept)

	// The same work directory, for a control plane that knows nothing of that deployment.
	other := newEnvironment(t, pipeline("{}"))
	text, err := os.ReadFile(other.config)
	require.NoError(t, err)
	args := append(e.flags("run"), "--config-file", e.write(t, "other.yaml", string(text)))
	second := execute(t, nil, args...)
	other.deck.awaitEnd(t, 0)
	second.awaitOutput(t, "reports were kept for another control plane")
	second.awaitOutput(t, "project project, piped piped")
	require.Equal(t, kept, e.kept(t))
	second.terminate(t)

	f.back(t)
	e.start(t)
	e.deck.awaitEnd(t, 0)
	require.Eventually(t, func() bool {
		left, err := filepath.Glob(filepath.Join(e.dir, "work", "spool", "*", "*.report"))
		return err == nil && len(left) == 0
	}, wait, 10*time.Millisecond)
}
