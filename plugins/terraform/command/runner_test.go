// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	Apart()
	os.Exit(m.Run())
}

func shell(t *testing.T) *Runner {
	t.Helper()
	return &Runner{Program: "/bin/sh", Dir: t.TempDir(), Env: os.Environ(), Stopped: 200 * time.Millisecond}
}

func script(text string) Command { return Command{Args: []string{"-c", text}} }

func TestACommandGivesItsAnswerAndItsErrors(t *testing.T) {
	t.Parallel()
	r := shell(t)
	result, err := r.Run(t.Context(), script("echo answer; echo noise >&2"))
	require.NoError(t, err)
	require.Equal(t, "answer\n", string(result.Stdout))

	_, err = r.Run(t.Context(), script("echo half; printf '╷\\n│ Error: no such thing\\n│ \\n╵\\n' >&2; exit 3"))
	require.EqualError(t, err, "-c failed: Error: no such thing")
	c := script("exit 2")
	c.Codes = []int{2}
	result, err = r.Run(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, 2, result.Code)
	_, err = (&Runner{Program: "/nowhere"}).Run(t.Context(), c)
	require.ErrorContains(t, err, "start /nowhere")
}

func TestSecretsAreHiddenInOutputAndErrors(t *testing.T) {
	t.Parallel()
	for _, changes := range []bool{false, true} {
		r, output := shell(t), &bytes.Buffer{}
		r.Secrets = []string{"hunter22", "ab"}
		c := script("printf 'it is hun'; sleep 0.2; echo 'ter22, ab'; exit 1")
		c.Output, c.Changes = output, changes
		_, err := r.Run(t.Context(), c)
		require.Equal(t, "it is (sensitive value), ab\n", output.String())
		require.EqualError(t, err, "-c failed: it is (sensitive value), ab")
	}
}

func TestTheLinesOfASecretAreHiddenOneByOne(t *testing.T) {
	t.Parallel()
	r, output := shell(t), &bytes.Buffer{}
	r.Secrets = []string{"-----BEGIN-----\r\nMIIEabcd\r\nx=\r\n-----END-----\r\n", "abcd"}
	c := script("printf 'web (local-exec): -----BEGIN-----\\nweb (local-exec): MIIEabcd\\nx=\\nabcd\\n'; exit 1")
	c.Output, c.Changes = output, true
	_, err := r.Run(t.Context(), c)
	require.Error(t, err)
	require.Equal(t, "web (local-exec): (sensitive value)\nweb (local-exec): (sensitive value)\nx=\n"+
		"(sensitive value)\n", output.String())
}

// A system without memory kills the program, whose last words are those of a provisioner.
func TestAKilledProgramIsSaidToBeKilled(t *testing.T) {
	t.Parallel()
	r := shell(t)
	c := script("echo 'web (local-exec): working'; kill -9 $$")
	c.Changes, c.Output = true, &bytes.Buffer{}
	_, err := r.Run(t.Context(), c)
	require.ErrorContains(t, err, "-c was ended by signal killed; the state may lack what it has done\nnext step: ")
	require.NotContains(t, err.Error(), "working")
	require.NotErrorIs(t, err, ErrNotBegun)

	_, err = r.Run(t.Context(), script("echo half >&2; kill -9 $$"))
	require.EqualError(t, err, "-c was ended by signal killed\nhalf")
}

// A command that changes something ends what it has begun, however long that takes; another one is killed.
func TestOnlyACommandThatChangesNothingIsKilled(t *testing.T) {
	t.Parallel()
	for _, changes := range []bool{true, false} {
		r := shell(t)
		begun, ended := filepath.Join(r.Dir, "begun"), filepath.Join(r.Dir, "ended")
		ctx, cancel := context.WithCancelCause(t.Context())
		c := script(`trap 'interrupted=yes' INT; touch begun; until [ -n "$interrupted" ]; do sleep 0.05; done
for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1; done; touch ended; exit 1`)
		c.Changes = changes
		done := make(chan error, 1)
		go func() { _, err := r.Run(ctx, c); done <- err }()
		require.Eventually(t, func() bool { _, err := os.Stat(begun); return err == nil }, time.Minute,
			5*time.Millisecond)
		reason := errors.New("the user wants it")
		cancel(reason)
		require.ErrorIs(t, <-done, reason)
		_, err := os.Stat(ended)
		require.Equal(t, changes, err == nil)
	}
}

func TestACommandThatIsLeftAloneIsNotInterrupted(t *testing.T) {
	t.Parallel()
	r := shell(t)
	begun, ended := filepath.Join(r.Dir, "begun"), filepath.Join(r.Dir, "ended")
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("piped has gone")
	c := script(`trap 'exit 1' INT; touch begun; until [ -e go ]; do sleep 0.05; done; touch ended`)
	c.Changes, c.LeftAlone = true, func(cause error) bool { return errors.Is(cause, gone) }
	done := make(chan error, 1)
	go func() { _, err := r.Run(ctx, c); done <- err }()
	there := func(path string) func() bool { return func() bool { _, err := os.Stat(path); return err == nil } }
	require.Eventually(t, there(begun), time.Minute, 5*time.Millisecond)
	cancel(gone)
	require.ErrorIs(t, <-done, gone)
	require.NoError(t, os.WriteFile(filepath.Join(r.Dir, "go"), nil, 0o600))
	require.Eventually(t, there(ended), time.Minute, 5*time.Millisecond)
}

func TestNothingIsStartedOnceTheContextHasEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := shell(t).Run(ctx, script("true"))
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, ErrNotBegun)
}

func TestAProgramThatIsInterruptedBeforeItHasTheLockHasNotBegun(t *testing.T) {
	t.Parallel()
	for said, notBegun := range map[string]bool{
		"Error: " + lockError:                  true,
		"╷\n│ Error: " + lockError + "\n│ \n╵": true,
		"Error: execution halted":              false,
		"Error: local-exec provisioner error\n\nError running it: Error: " + lockError: false,
	} {
		r := shell(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		c := script(`trap 'interrupted=yes' INT; touch begun; until [ -n "$interrupted" ]; do sleep 0.05; done
echo Interrupt received.; echo; printf '%s\n' "$SAID"; exit 1`)
		c.Env, c.Changes, c.Output = []string{"SAID=" + said}, true, &bytes.Buffer{}
		done := make(chan error, 1)
		go func() { _, err := r.Run(ctx, c); done <- err }()
		begun := func() bool { _, err := os.Stat(filepath.Join(r.Dir, "begun")); return err == nil }
		require.Eventually(t, begun, time.Minute, 5*time.Millisecond)
		reason := errors.New("the user wants it")
		cancel(reason)
		err := <-done
		require.ErrorIs(t, err, reason)
		require.Equal(t, notBegun, errors.Is(err, ErrNotBegun), said)
	}
}

func TestTheOwnerOfALockIsNamed(t *testing.T) {
	t.Parallel()
	failure := &Failure{Command: "plan", How: "exit code 1", Said: `╷
│ Error: Error acquiring the state lock
│ 
│ Error message: resource temporarily unavailable
│ Lock Info:
│   ID:        5f1d
│   Path:      /states/terraform.tfstate
│   Operation: OperationTypeApply
│   Who:       ann@laptop
│   Version:   1.12.6
│   Created:   2026-11-27 03:00:00 +0000 UTC
│   Info:      
╵
`}
	require.EqualError(t, failure, "plan: the state is locked by ann@laptop since 2026-11-27 03:00:00 +0000 UTC for "+
		"OperationTypeApply (lock 5f1d)\nnext step: wait for it to end, or set a longer lockTimeout; if no one works "+
		"with the state any more, run: tofu force-unlock 5f1d")
	require.ErrorIs(t, failure, ErrNotBegun)
}

func TestAVersionIsComparedWithAConstraint(t *testing.T) {
	t.Parallel()
	for constraint, fits := range map[string]bool{
		"": true, "1.12.6": true, "v1.12.6": true, ">= 1.8, < 2": true, "~> 1.12.0": true, "0.13.0": false,
		"< 1":    false,
		"latest": false,
	} {
		require.Equal(t, fits, CheckVersion("1.12.6", constraint) == nil, constraint)
	}
}
