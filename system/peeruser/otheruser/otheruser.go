// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package otheruser connects to a server as another user of this machine, for tests. Only root can do that; for other
// users the test is skipped.
package otheruser

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// UID is the id of the other user, which most systems reserve for a user without rights.
const UID = 65534

// Dial has a process of the other user connect to address, send what is given and wait for the end of the connection.
// The function that it returns waits for the end and returns all that the server sent. The test ends the process.
func Dial(t *testing.T, address string, send ...string) (received func() string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can start a process of another user")
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash, which connects, is not installed")
	}
	i := strings.LastIndexByte(address, ':')
	host, port := strings.Trim(address[:i], "[]"), address[i+1:]
	cmd := exec.CommandContext(t.Context(), bash, "-c",
		`exec 3<>"/dev/tcp/$1/$2" || exit 1; printf %s "$3" >&3; exec cat <&3`, "dial", host, port,
		strings.Join(send, ""))
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: UID, Gid: UID}}
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	received = sync.OnceValue(func() string {
		answer, _ := io.ReadAll(out)
		_ = cmd.Wait()
		return string(answer)
	})
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		received()
	})
	return received
}
