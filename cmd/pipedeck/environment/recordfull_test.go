// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

// narrow is the file of a session on a disk that has room for so many bytes.
type narrow struct {
	diskFile
	room int
}

func (n *narrow) Write(p []byte) (int, error) {
	if len(p) > n.room {
		return 0, &fs.PathError{Op: "write", Path: "session", Err: syscall.ENOSPC}
	}
	n.room -= len(p)
	return n.diskFile.Write(p)
}

// recordFull records an environment to a disk that gets full, and returns what was said by then. The file has room for
// so many bytes.
func recordFull(t *testing.T, mode OutputMode, room int) (r *recording, out *bytes.Buffer) {
	t.Helper()
	w := environment(t, t.TempDir(), "demo")
	_, err := w.Keys().EnsureSecrets()
	require.NoError(t, err)
	r, out = &recording{path: filepath.Join(t.TempDir(), "session")}, &bytes.Buffer{}
	require.NoError(t, r.create())
	r.file.file = &narrow{r.file.file, room}
	r.prints(mode, out)
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	lock, err := w.Acquire()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, lock.Release()) })
	require.NoError(t, w.Publish(workspace.Running{PID: 4711, Address: server.Address()}))
	r.begin(t.Context(), w)
	select {
	case <-r.ended:
	case <-time.After(time.Minute):
		require.Fail(t, "the recording goes on")
	}
	return r, out
}

// header is the least room in which a recording begins.
const header = 200

func TestAFullDiskIsSaidWhenItHappens(t *testing.T) {
	t.Parallel()
	const said = "the recording has ended: write session: no space left on device; the file has what happened until " +
		"then"
	const next = "free space on that disk, then record the session to another file"
	for mode, line := range map[OutputMode]string{
		outputPlain:  `^\d\d:\d\d:\d\d\.\d\d\d  problem      recording  DEGRADED  ` + said + `  -> ` + next + "\n$",
		outputReader: "^T" + said[1:] + `\. Next step: ` + next + "\\.\n$",
		outputJSON: `^{"time":"[^"]*","type":"problem","schema":1,"id":"recording","part":"recording",` +
			`"state":"DEGRADED","reason":"` + said + `","next_step":"` + next + `",.*}` + "\n$",
	} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			r, out := recordFull(t, mode, header)
			require.Regexp(t, line, out.String())
			var err bytes.Buffer
			failure := (*exit.Error)(nil)
			require.ErrorAs(t, r.finish(&err, nil), &failure)
			require.Equal(t, exit.With(exit.Unwritten, errors.New(said), next), failure)
			require.Equal(t, "recorded the session; play it with: pipedeck replay "+r.path+"\n", err.String())
			recorded, openErr := openSession(r.path)
			require.NoError(t, openErr)
			require.NotEmpty(t, recorded.Missing)
			require.NoError(t, r.finish(&err, nil), "only the first call counts")
		})
	}
}

func TestAFailedRecordingKeepsTheErrorOfTheCommand(t *testing.T) {
	t.Parallel()
	r, _ := recordFull(t, outputPlain, header)
	var err bytes.Buffer
	failed := exit.With(exit.Failed, errors.New("shop failed"), "see the logs")
	require.Equal(t, error(failed), r.finish(&err, failed))
	require.Contains(t, err.String(), "pipedeck: the recording has ended: write session: no space left on device")
}

func TestARecordingThatCannotBeginLeavesNoFile(t *testing.T) {
	t.Parallel()
	r, out := recordFull(t, outputPlain, 0)
	const said = "the session is not recorded: begin the recording: write session: no space left on device"
	require.Contains(t, out.String(), said)
	var err bytes.Buffer
	require.EqualError(t, r.finish(&err, nil), said)
	require.Empty(t, err.String(), "there is nothing to play")
	require.NoFileExists(t, r.path)
}

func TestTheScreenGetsTheEndOfTheRecording(t *testing.T) {
	t.Parallel()
	r, out := recordFull(t, outputTUI, header)
	require.Contains(t, <-r.news(), "the recording has ended: write session: no space left on device")
	require.Empty(t, out.String())
}
