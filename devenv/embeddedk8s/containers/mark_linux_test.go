// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// startMarked starts a script that writes the number of a process in a separate session to the file "left".
func startMarked(t *testing.T, host *Host, script string) (p *Process, left int) {
	t.Helper()
	spec := shell(t, script)
	spec.Mark = "mark of " + t.Name()
	spec.Env = append(spec.Env, MarkVariable+"="+spec.Mark)
	p, err := host.Start(spec)
	require.NoError(t, err)
	t.Cleanup(func() { p.Kill(); <-p.Ended() })
	require.Eventually(t, func() bool {
		content, _ := os.ReadFile(filepath.Join(spec.Dir, "left"))
		left, err = strconv.Atoi(strings.TrimSpace(string(content)))
		return err == nil
	}, time.Minute, time.Millisecond)
	return p, left
}

// alone starts a shell that leaves the session and the parents of its script.
const alone = `(setsid sh -c 'echo $$ >left; exec sleep 600' &) ; `

func TestWhatLeftTheSessionEndsWithTheContainer(t *testing.T) {
	t.Parallel()
	host, _ := newHost(t)
	p, left := startMarked(t, host, alone+"sleep 600")
	_, runs := startOf(left)
	require.True(t, runs)
	p.Kill()
	<-p.Ended()
	require.Eventually(t, func() bool { _, runs := startOf(left); return !runs }, time.Minute, time.Millisecond)
}

func TestWhatLeftTheSessionEndsWithTheNextHost(t *testing.T) {
	t.Parallel()
	host, dir := newHost(t)
	p, left := startMarked(t, host, alone+"sleep 600")
	record, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(p.PID, ".json")))
	require.NoError(t, err)
	next := filepath.Join(t.TempDir(), "processes") // as a kill of the first host leaves it
	require.NoError(t, os.Mkdir(next, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(next, fmt.Sprint(p.PID, ".json")), record, 0o600))
	second, err := NewHost(next)
	require.NoError(t, err)
	t.Cleanup(second.Close)
	require.Eventually(t, func() bool { _, runs := startOf(left); return !runs }, time.Minute, time.Millisecond)
}

func TestProcessesOfAnotherRunAreLeftAlone(t *testing.T) {
	t.Parallel()
	host, _ := newHost(t)
	_, left := startMarked(t, host, alone+"sleep 600")
	other := start(t, host, "exit 0")
	<-other.Ended()
	endMarked(map[string]bool{"another": true})
	_, runs := startOf(left)
	require.True(t, runs)
}
