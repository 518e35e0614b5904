// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// The embedded Kubernetes waits until the test lets it start: whatever is on the screen before comes without it. How
// fast the first bytes come is measured by make bench-ui.
func TestTheFirstScreenComesBeforeTheEnvironmentIsUp(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	compiled := e.pipedeck("compile-embedded")
	require.Zero(t, compiled.Code, compiled.Stderr)
	dir := t.TempDir()
	gate, held, program := filepath.Join(dir, "gate"), filepath.Join(dir, "held"), filepath.Join(dir, "embeddedk8s")
	require.NoError(t, syscall.Mkfifo(gate, 0o600))
	require.NoError(t, os.WriteFile(program, fmt.Appendf(nil, "#!/bin/sh\n: > '%s'\nread go < '%s'\nexec '%s' \"$@\"\n",
		held, gate, strings.TrimSpace(compiled.Stdout)), 0o755))

	ui := openTerminal(t, e.command("up", "--sample", "hello-world"), 120, 36, "PIPEDECK_EMBEDDEDK8S="+program)
	ui.sees(`Starting story`)
	ui.sees(`q leave`)
	waitUntil(t, "Kubernetes to be started", func() bool { _, err := os.Stat(held); return err == nil })
	ui.sees(`3 of 4 parts ready`)
	ui.sees(`Waiting for pipedeck\.dev/hello-world:\S+ images are being`)
	ui.presses("e") // and the keys answer
	ui.sees(`kubernetes +[\d.]+s +starting`)
	ui.presses("2")
	require.NoFileExists(t, e.Dir("kubeconfig"), "there is no cluster yet")

	open, err := os.OpenFile(gate, os.O_WRONLY, 0) // opens once the script reads
	require.NoError(t, err)
	_, err = open.WriteString("go\n")
	require.NoError(t, err)
	require.NoError(t, open.Close())
	e.awaitDeployment("hello-world", "SUCCESS")
	ui.sees(`4 parts, 4 plugins ready`)
}
