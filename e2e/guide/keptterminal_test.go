// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package guide

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/docs/page"
	"github.com/pipedeck/pipedeck/system/logtest"
)

// terminal is a real pseudo-terminal whose program keeps it.
type terminal struct {
	cmd   *exec.Cmd
	file  *os.File
	text  logtest.Buffer
	ended chan struct{}
	left  bool // the story has left the program, by Ctrl-C
}

// output is what the program has written until now.
func (term *terminal) output() string { return term.text.String() }

func (term *terminal) read() {
	defer close(term.ended)
	buffer := make([]byte, 32<<10)
	for {
		n, err := term.file.Read(buffer)
		_, _ = term.text.Write(buffer[:n])
		if err != nil {
			_ = term.cmd.Wait()
			return
		}
	}
}

// interrupt presses Ctrl-C, by which the UI ends.
func (term *terminal) interrupt() {
	term.left = true
	_, _ = term.file.WriteString("\x03")
	term.await(patience)
}

// closing is how long a program has to end when its terminal is closed. No page is about that.
const closing = 30 * time.Second

// close ends what still runs, as a terminal does whose window is closed.
func (term *terminal) close() {
	if !term.hasEnded() {
		_ = syscall.Kill(-term.cmd.Process.Pid, syscall.SIGHUP)
	}
	term.await(closing)
	_ = term.file.Close()
}

func (term *terminal) await(limit time.Duration) {
	select {
	case <-term.ended:
	case <-time.After(limit):
		_ = syscall.Kill(-term.cmd.Process.Pid, syscall.SIGKILL) // also what ignores SIGHUP
		<-term.ended
	}
}

// ui is what a terminal gets when a full screen begins.
const ui = "\x1b[?1049h"

// ready succeeds when every part of the environment runs and every application is deployed, or cannot be.
const ready = `
pipedeck status | grep ' CONNECTED '
[ -z "$(pipedeck status | grep -w -e PENDING -e STARTING)" ]
pipedeck apps --no-headers | grep .
[ -z "$(pipedeck apps --no-headers | grep -v -w -e SYNCED -e OUT_OF_SYNC -e INVALID_CONFIG)" ]`

// keep opens a terminal for a block. It leaves the UI by Ctrl-C, which keeps the environment, once that is ready; other
// programs go on until the page ends.
func (v *visitor) keep(t *testing.T, b page.Block) {
	t.Helper()
	term := &terminal{cmd: v.shell(t, b.Text), ended: make(chan struct{})}
	var err error
	term.file, err = pty.StartWithSize(term.cmd, &pty.Winsize{Cols: 160, Rows: 50})
	require.NoError(t, err, b.Place())
	go term.read()
	v.terminals = append(v.terminals, term)
	if !opensUI(b) {
		return
	}
	await(t, patience, func() string {
		if strings.Contains(term.output(), ui) || term.hasEnded() {
			return ""
		}
		return b.Place() + ": no UI\n" + term.output()
	})
	require.False(t, term.hasEnded(), "%s\n%s", b.Place(), term.output())
	v.await(t, b.Place(), named(b.Text)+ready)
	term.interrupt()
}

// opensUI reports whether a block ends with the UI. What prints lines instead is not left: a page waits for its lines.
func opensUI(b page.Block) bool {
	return !strings.Contains(b.Text, "--output plain") &&
		(strings.Contains(b.Text, "pipedeck up") || strings.Contains(b.Text, "pipedeck attach"))
}

func (term *terminal) hasEnded() bool {
	select {
	case <-term.ended:
		return true
	default:
		return false
	}
}

// named chooses the environment that a command names.
func named(script string) string {
	_, rest, found := strings.Cut(script, "--name ")
	if !found {
		return ""
	}
	return "export PIPEDECK_NAME=" + strings.Fields(rest)[0] + "\n"
}
