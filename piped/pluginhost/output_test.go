// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/secrets"
)

func TestOutputIsMaskedByTheLine(t *testing.T) {
	t.Parallel()
	masker := secrets.NewMasker()
	require.NoError(t, masker.Add("hunter2-is-the-password"))
	dir := t.TempDir()
	o := newOutput(dir, "p", func(line string, cut bool) string {
		if cut {
			return masker.MaskPiece(line)
		}
		return masker.Mask(line)
	})
	one := o.begin()
	write := func(text string) {
		n, err := one.Write([]byte(text))
		require.NoError(t, err)
		require.Equal(t, len(text), n)
	}
	write("use hunter2-")
	require.Equal(t, []string{"use ******"}, o.last(), "an unfinished line")
	write("is-the-password\nnext\n")
	require.Equal(t, []string{"use ******", "next"}, o.last())

	// The kept line would end within the secret, as would that of the file.
	write(strings.Repeat("x", maxLineLength-10) + "hunter2-is-the-password\n")
	write(strings.Repeat("x", maxFileLine-10) + "hunter2-is-the-password\n")
	write("the end is hunter2-is-the-")
	o.close()
	content, err := os.ReadFile(filepath.Join(dir, "p.log"))
	require.NoError(t, err)
	require.False(t, strings.Contains(strings.Join(o.last(), "\n")+string(content), "hunt"))
	require.True(t, strings.HasPrefix(string(content), "use ******\nnext\n"))
	require.True(t, strings.HasSuffix(string(content), "the end is ******\n"))
	for _, line := range o.last() {
		require.LessOrEqual(t, len(line), maxLineLength)
	}
}

func TestEachEndedLineHasItsTime(t *testing.T) {
	t.Parallel()
	o := newOutput("", "p", nil)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	o.now = func() time.Time { return now }
	one := o.begin()
	_, _ = one.Write([]byte("first\n"))
	now = now.Add(time.Second)
	_, _ = one.Write([]byte("second\nunfinished"))
	s := &agentv1.Plugin{}
	o.status(s)
	require.Equal(t, []string{"first", "second", "unfinished"}, s.GetLastOutput())
	require.EqualValues(t, 2, s.GetOutputLines())
	require.Len(t, s.GetLastOutputAt(), 2, "a line that has not ended has none")
	require.Equal(t, time.Second, s.GetLastOutputAt()[1].AsTime().Sub(s.GetLastOutputAt()[0].AsTime()))

	_, _ = one.Write([]byte(strings.Repeat("\nmore", 2*keptLines)))
	s = &agentv1.Plugin{}
	o.status(s)
	require.Len(t, s.GetLastOutput(), keptLines)
	require.Len(t, s.GetLastOutputAt(), keptLines-1)
	require.EqualValues(t, 2*keptLines+2, s.GetOutputLines())
}

func TestTheLogFileOfAPluginIsBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := newOutput(dir, "p", nil)
	one, line := o.begin(), []byte(strings.Repeat("x", 999)+"\n")
	for range 3 * maxLogFile / len(line) {
		_, _ = one.Write(line)
	}
	_, _ = one.Write([]byte("the newest line\n"))
	o.close()
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 2)
	for _, file := range files {
		info, err := file.Info()
		require.NoError(t, err)
		require.LessOrEqual(t, info.Size(), int64(maxLogFile), file.Name())
	}
	content, err := os.ReadFile(filepath.Join(dir, "p.log"))
	require.NoError(t, err)
	require.Contains(t, string(content), "the newest line\n")
}

// The installation of a tool by curl ends a plugin of PipeCD like this.
func TestOfALineThatRewritesItselfTheLastStateIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := newOutput(dir, "p", nil)
	_, err := o.begin().Write([]byte("fetching\r\n  0 %\r 50 %\rno such host\nbye\n  1 %\r  2 %"))
	require.NoError(t, err)
	require.Equal(t, []string{"fetching", "no such host", "bye", "  2 %"}, o.last())
	failure := &ExitError{Plugin: "p", Code: 1, LastOutput: o.last()}
	require.EqualError(
		t, failure, `plugin "p" exited with code 1; its last output: fetching | no such host | bye |   2 %`,
	)
	o.close()
	content, err := os.ReadFile(filepath.Join(dir, "p.log"))
	require.NoError(t, err)
	require.Equal(t, "fetching\n  0 %\r 50 %\rno such host\nbye\n  1 %\r  2 %\n", string(content), "the file has all")
}

func TestALongLineSaysHowMuchOfItIsMissing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := newOutput(dir, "p", nil)
	const more = 1234
	one := o.begin()
	for _, piece := range []string{strings.Repeat("x", maxFileLine), strings.Repeat("y", more), "\nnext\n"} {
		_, err := one.Write([]byte(piece))
		require.NoError(t, err)
	}
	o.close()
	content, err := os.ReadFile(filepath.Join(dir, "p.log"))
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("x", maxFileLine)+"… (1234 bytes left out)\nnext\n", string(content))
	kept := o.last()
	require.LessOrEqual(t, len(kept[0]), maxLineLength)
	x := strings.Count(kept[0], "x")
	require.Equal(t, fmt.Sprintf("%s… (%d bytes left out)", strings.Repeat("x", x), maxFileLine+more-x), kept[0])
	require.Equal(t, "next", kept[1])
}
