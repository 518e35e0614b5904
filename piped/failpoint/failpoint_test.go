// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package failpoint_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/failpoint"
	"github.com/pipedeck/pipedeck/piped/failpoint/failpointtest"
)

func TestTermsCountInTheirOrder(t *testing.T) {
	t.Parallel()
	set, err := failpoint.Parse("a=1*off->2*error(no a*b)->off;b=error(always);c=1*error(once)")
	require.NoError(t, err)
	require.NoError(t, set.Hit(t.Context(), "a"))
	require.EqualError(t, set.Hit(t.Context(), "a"), "no a*b")
	require.EqualError(t, set.Hit(t.Context(), "a"), "no a*b")
	for range 3 {
		require.NoError(t, set.Hit(t.Context(), "a"))
		require.EqualError(t, set.Hit(t.Context(), "b"), "always")
	}
	require.Error(t, set.Hit(t.Context(), "c"))
	require.NoError(t, set.Hit(t.Context(), "c"), "off after its count")
	require.NoError(t, set.Hit(t.Context(), "nowhere"))
}

func TestWithoutTermsNothingHappens(t *testing.T) {
	t.Parallel()
	set, err := failpoint.Parse("")
	require.NoError(t, err)
	require.Nil(t, set)
	require.NoError(t, set.Hit(t.Context(), "a"))
}

func TestMistakesAreReported(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a":         `"a": want POINT=TERM`,
		"=off":      "want POINT=TERM",
		"a=":        "is no action",
		"a=explode": `failpoint a: "explode" is no action: want off, kill, error(TEXT) or hold(PATH)`,
		"a=x*off":   `"x" is not a count`,
		"a=hold()":  "is no action",
	} {
		_, err := failpoint.Parse(text)
		require.ErrorContains(t, err, want, text)
	}
}

func TestHoldWaitsForTheGateOrTheContext(t *testing.T) {
	t.Parallel()
	gate, other := failpointtest.NewGate(t), failpointtest.NewGate(t)
	set, err := failpoint.Parse("a=hold(" + gate.Path + ");b=hold(" + other.Path + ");c=hold(/no/such/pipe)")
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- set.Hit(t.Context(), "a") }()
	gate.Await(t)
	select {
	case <-done:
		require.Fail(t, "went on before the gate was opened")
	default:
	}
	gate.Open()
	require.NoError(t, <-done)

	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { done <- set.Hit(ctx, "b") }()
	other.Await(t)
	cancel(enough)
	require.ErrorIs(t, <-done, enough)
	require.ErrorContains(t, set.Hit(t.Context(), "c"), "hold at the named pipe")
}

func TestKillEndsTheProcess(t *testing.T) {
	if text := os.Getenv(failpoint.Variable); text != "" {
		set, err := failpoint.Parse(text)
		require.NoError(t, err)
		_ = set.Hit(t.Context(), "a")
		os.Exit(0)
	}
	t.Parallel()
	command := exec.Command(os.Args[0], "-test.run", "^TestKillEndsTheProcess$")
	command.Env = append(os.Environ(), failpoint.Variable+"=a=kill")
	var exit *exec.ExitError
	require.ErrorAs(t, command.Run(), &exit)
	require.Equal(t, syscall.SIGKILL, exit.Sys().(syscall.WaitStatus).Signal())
}
