// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
	"github.com/stretchr/testify/require"
)

// terminal is a real pseudo-terminal with an emulated screen and someone at the keyboard.
type terminal struct {
	t    *testing.T
	cmd  *exec.Cmd
	file *os.File

	mu     sync.Mutex
	change *sync.Cond
	screen vt10x.Terminal
	raw    []byte
	ended  bool
}

// open runs a command on a terminal of the given size.
func openTerminal(t *testing.T, cmd *exec.Cmd, columns, rows int, variables ...string) *terminal {
	t.Helper()
	cmd.Env = append(append(os.Environ(), "TERM=xterm-256color", "NO_COLOR="), variables...)
	term := &terminal{t: t, cmd: cmd, screen: vt10x.New(vt10x.WithSize(columns, rows))}
	term.change = sync.NewCond(&term.mu)
	var err error
	term.file, err = pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)})
	require.NoError(t, err)
	go term.read()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		term.wait()
	})
	return term
}

func (term *terminal) read() {
	buffer := make([]byte, 32<<10)
	for {
		n, err := term.file.Read(buffer)
		term.mu.Lock()
		_, _ = term.screen.Write(buffer[:n])
		term.raw = append(term.raw, buffer[:n]...)
		term.ended = err != nil
		term.change.Broadcast()
		term.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// until waits for a screen that satisfies the condition and returns it.
func (term *terminal) until(what string, condition func(screen string) bool) string {
	term.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { term.mu.Lock(); term.change.Broadcast(); term.mu.Unlock() })
	defer stop()
	term.mu.Lock()
	defer term.mu.Unlock()
	for {
		screen := term.screen.String()
		if condition(screen) {
			requireWords(term.t, "the screen", screen)
			return screen
		}
		if term.ended || ctx.Err() != nil {
			term.t.Fatalf("never on screen: %s\n%s", what, screen)
		}
		term.change.Wait()
	}
}

// sees waits for a text that matches the pattern.
func (term *terminal) sees(pattern string) string {
	term.t.Helper()
	return term.until(pattern, regexp.MustCompile(pattern).MatchString)
}

// loses waits for a screen without any text that matches the pattern.
func (term *terminal) loses(pattern string) {
	term.t.Helper()
	gone := regexp.MustCompile(pattern)
	term.until("anything but "+pattern, func(screen string) bool { return !gone.MatchString(screen) })
}

// presses types keys.
func (term *terminal) presses(keys string) {
	term.t.Helper()
	_, err := term.file.WriteString(keys)
	require.NoError(term.t, err)
}

func (term *terminal) resize(columns, rows int) {
	term.t.Helper()
	term.mu.Lock()
	term.screen.Resize(columns, rows)
	term.mu.Unlock()
	require.NoError(term.t, pty.Setsize(term.file, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)}))
}

// wait returns the exit code after the command has ended.
func (term *terminal) wait() int {
	term.mu.Lock()
	for !term.ended {
		term.change.Wait()
	}
	term.mu.Unlock()
	if term.cmd.ProcessState == nil {
		_ = term.cmd.Wait()
		_ = term.file.Close()
	}
	return term.cmd.ProcessState.ExitCode()
}

// output is every byte that was written to the terminal.
func (term *terminal) output() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return string(term.raw)
}

// restored reports whether the last word on the alternate screen and the cursor was to restore them.
func (term *terminal) restored() bool {
	out := term.output()
	return strings.LastIndex(out, "\x1b[?1049l") > strings.LastIndex(out, "\x1b[?1049h") &&
		strings.LastIndex(out, "\x1b[?25h") > strings.LastIndex(out, "\x1b[?25l")
}

// waitUntil waits for something outside a terminal; the condition is cheap and has no event.
func waitUntil(t *testing.T, what string, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, patience, 50*time.Millisecond, what)
}
