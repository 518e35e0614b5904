// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package exit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// narrow takes some bytes and refuses what follows with an error.
type narrow struct {
	room  int
	err   error
	taken bytes.Buffer
	tries int
}

func (n *narrow) Write(p []byte) (int, error) {
	n.tries++
	fits := min(n.room, len(p))
	n.room -= fits
	n.taken.Write(p[:fits])
	if fits < len(p) {
		return fits, &os.PathError{Op: "write", Path: "/dev/stdout", Err: n.err}
	}
	return fits, nil
}

func TestAnOutputThatCannotBeWrittenIsNoSuccess(t *testing.T) {
	t.Parallel()
	const full = "pipedeck: cannot write the output: no space left on device\nnext step: free space where standard " +
		"output goes, or send it elsewhere, and run it again\n"
	for name, c := range map[string]struct {
		cause error
		// run is the command, which may ignore that it could not print.
		run  func(out io.Writer) error
		code int
		says string
	}{
		"a full disk":                    {syscall.ENOSPC, printed, Unwritten, full},
		"a full disk, ignored":           {syscall.ENOSPC, ignored, Unwritten, full},
		"a full disk, wrapped":           {syscall.ENOSPC, explained(t), Unwritten, full},
		"a reader that is gone":          {syscall.EPIPE, printed, ReaderGone, ""},
		"a reader that is gone, ignored": {syscall.EPIPE, ignored, ReaderGone, ""},
		"a reader that is gone, wrapped": {syscall.EPIPE, explained(t), ReaderGone, ""},
		"another error": {syscall.EIO, printed, Unwritten, "pipedeck: cannot write the output: input/output error\n" +
			"next step: send standard output to a file or a program that takes it, and run it again\n"},
		"the command's own error has the code, and both are said": {syscall.ENOSPC, failed, Failed,
			"pipedeck: cannot write the output: no space left on device\npipedeck: web failed\n" +
				"next step: see the logs\n"},
		"the command's own error alone": {syscall.EPIPE, failed, Failed, "pipedeck: web failed\n" +
			"next step: see the logs\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := &cobra.Command{RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd.OutOrStdout()) }}
			out, errOut := &narrow{room: len("one\n"), err: c.cause}, &bytes.Buffer{}
			require.Equal(t, c.code, Run(t.Context(), root, nil, func() string { return "" }, out, errOut))
			require.Equal(t, c.says, errOut.String())
			require.Equal(t, "one\n", out.taken.String())
		})
	}
}

// printed stops at the first line that it cannot print.
func printed(out io.Writer) error {
	for _, line := range []string{"one", "two", "three"} {
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	return nil
}

func ignored(out io.Writer) error {
	_ = printed(out)
	fmt.Fprintln(out, "four")
	return nil
}

// explained prints as a command that an environment runs for.
func explained(t *testing.T) func(out io.Writer) error {
	return func(out io.Writer) error { return Explain(t.Context(), fmt.Errorf("watch: %w", printed(out))) }
}

func failed(out io.Writer) error {
	_ = printed(out)
	return With(Failed, errors.New("web failed"), "see the logs")
}

func TestAHelpThatCannotBeWrittenIsNoSuccess(t *testing.T) {
	t.Parallel()
	root := &cobra.Command{Use: "pipedeck", Run: func(*cobra.Command, []string) {}}
	out := &narrow{err: syscall.ENOSPC}
	code := Run(t.Context(), root, []string{"--help"}, func() string { return "" }, out, io.Discard)
	require.Equal(t, Unwritten, code)
}

func TestNothingIsPrintedBehindAGap(t *testing.T) {
	t.Parallel()
	out := &narrow{room: 1, err: syscall.ENOSPC}
	root := &cobra.Command{Run: func(cmd *cobra.Command, _ []string) {
		fmt.Fprintln(cmd.OutOrStdout(), "one")
		out.room = 100 // the disk has room again
		fmt.Fprintln(cmd.OutOrStdout(), "two")
	}}
	require.Equal(t, Unwritten, Run(t.Context(), root, nil, func() string { return "" }, out, io.Discard))
	require.Equal(t, "o", out.taken.String())
	require.Equal(t, 1, out.tries)
}
