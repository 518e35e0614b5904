// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubeletapi

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// epoch is the time of the first line of a log.
var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// containerLog is a log file as the kubelet writes it.
type containerLog struct {
	path  string
	lines int
}

func newLog(t *testing.T) *containerLog {
	t.Helper()
	log := &containerLog{path: filepath.Join(t.TempDir(), "web.log")}
	require.NoError(t, os.WriteFile(log.path, nil, 0o600))
	return log
}

// write adds a line; its time is a second after that of the line before.
func (l *containerLog) write(t *testing.T, stream, tag, text string) {
	t.Helper()
	file, err := os.OpenFile(l.path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	require.NoError(t, err)
	at := epoch.Add(time.Duration(l.lines) * time.Second).Format(timeFormat)
	l.lines++
	_, err = fmt.Fprintf(file, "%s %s %s %s\n", at, stream, tag, text)
	require.NoError(t, err)
	require.NoError(t, file.Close())
}

// rotate renames the log, as the kubelet does when it is large.
func (l *containerLog) rotate(t *testing.T) {
	t.Helper()
	require.NoError(t, os.Rename(l.path, l.path+".1"))
	require.NoError(t, os.WriteFile(l.path, nil, 0o600))
}

func (l *containerLog) output(ended <-chan struct{}) Output {
	return Output{Files: []string{l.path + ".1", l.path}, Ended: ended}
}

// read returns what a user sees of a log whose container has ended.
func read(t *testing.T, log *containerLog, options logOptions) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, readLog(t.Context(), log.output(closed()),
		&logWriter{to: &out, options: options, flush: func() {}}))
	return out.String()
}

func TestTheWantedPartOfALogIsSent(t *testing.T) {
	t.Parallel()
	log := newLog(t)
	log.write(t, "stdout", "F", "one")
	log.write(t, "stderr", "F", "two")
	log.rotate(t)
	log.write(t, "stdout", "P", "th")
	log.write(t, "stdout", "F", "ree")
	log.write(t, "stdout", "F", "")
	log.write(t, "stdout", "F", "five")
	all := logOptions{tail: -1, limit: -1}
	for name, c := range map[string]struct {
		change func(*logOptions)
		want   string
	}{
		"all":                       {func(*logOptions) {}, "one\ntwo\nthree\n\nfive\n"},
		"the last line":             {func(o *logOptions) { o.tail = 1 }, "five\n"},
		"a last line of two parts":  {func(o *logOptions) { o.tail = 3 }, "three\n\nfive\n"},
		"lines of both files":       {func(o *logOptions) { o.tail = 4 }, "two\nthree\n\nfive\n"},
		"more lines than there are": {func(o *logOptions) { o.tail = 99 }, "one\ntwo\nthree\n\nfive\n"},
		"no line":                   {func(o *logOptions) { o.tail = 0 }, ""},
		"since a time":              {func(o *logOptions) { o.since = epoch.Add(4 * time.Second) }, "\nfive\n"},
		"since a later time":        {func(o *logOptions) { o.since = epoch.Add(time.Hour) }, ""},
		"some bytes":                {func(o *logOptions) { o.limit = 5 }, "one\nt"},
		"one stream":                {func(o *logOptions) { o.stream = "stderr" }, "two\n"},
		"with times": {func(o *logOptions) { o.timestamps, o.tail = true, 3 },
			"2026-01-02T03:04:07.000000000Z three\n" +
				"2026-01-02T03:04:09.000000000Z \n2026-01-02T03:04:10.000000000Z five\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := all
			c.change(&options)
			require.Equal(t, c.want, read(t, log, options))
		})
	}
}

func TestALineThatIsLongOrInNoFormatIsSent(t *testing.T) {
	t.Parallel()
	log := newLog(t)
	long := strings.Repeat("x", maxLine/2)
	log.write(t, "stdout", "F", long)
	file, err := os.OpenFile(log.path, os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	_, err = file.WriteString("cut off by a crash\n2026-01-02T03:04:05Z stdout F the end is not written")
	require.NoError(t, err)
	require.NoError(t, file.Close())
	require.Equal(t, long+"\ncut off by a crash\n", read(t, log, logOptions{tail: -1, limit: -1}))
	_, err = openLog([]string{filepath.Join(t.TempDir(), "gone")})
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestALogIsFollowedThroughARotationToItsEnd(t *testing.T) {
	t.Parallel()
	log := newLog(t)
	log.write(t, "stdout", "F", "before")
	read, write := io.Pipe()
	ended, result := make(chan struct{}), make(chan error, 1)
	go func() {
		err := readLog(t.Context(), log.output(ended),
			&logWriter{to: write, options: logOptions{tail: -1, limit: -1, follow: true}, flush: func() {}})
		write.CloseWithError(err)
		result <- err
	}()
	expect := func(want string) {
		t.Helper()
		got := make([]byte, len(want))
		_, err := io.ReadFull(read, got)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
	expect("before\n")
	log.write(t, "stdout", "F", "after")
	expect("after\n")
	log.write(t, "stdout", "F", "last of the old file")
	log.rotate(t)
	log.write(t, "stdout", "F", "first of the new one")
	expect("last of the old file\nfirst of the new one\n")
	log.write(t, "stdout", "F", "the end")
	close(ended)
	expect("the end\n")
	require.NoError(t, <-result)
}

func TestFollowingEndsWithTheClient(t *testing.T) {
	t.Parallel()
	log := newLog(t)
	ctx, cancel := context.WithCancel(t.Context())
	waiting, result := make(chan struct{}, 1), make(chan error, 1)
	flush := func() {
		select {
		case waiting <- struct{}{}:
		default:
		}
	}
	go func() {
		result <- readLog(ctx, log.output(make(chan struct{})),
			&logWriter{to: io.Discard, options: logOptions{tail: -1, limit: -1}, flush: flush})
	}()
	<-waiting
	cancel()
	require.ErrorIs(t, <-result, context.Canceled)
}
