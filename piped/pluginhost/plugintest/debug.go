// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugintest

import (
	"bufio"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Debug holds a process as a debugger does at a breakpoint, until release is called, at the latest at the end of the
// test. program is the test plugin, which is the debugger: the parent of a process cannot be.
func Debug(t testing.TB, program string, pid int) (release func()) {
	t.Helper()
	command := exec.Command(program, "debug", strconv.Itoa(pid))
	in, err := command.StdinPipe()
	require.NoError(t, err)
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	var failed strings.Builder
	command.Stderr = &failed
	require.NoError(t, command.Start())
	release = sync.OnceFunc(func() {
		_ = in.Close()
		_ = command.Wait()
	})
	t.Cleanup(release)
	said, _ := bufio.NewReader(out).ReadString('\n')
	if said == "" {
		release()
	}
	require.Equal(t, "held\n", said, failed.String())
	return release
}
