// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const page = "http://127.0.0.1:34567"

// onScreen are variables of a machine with a screen.
func onScreen(path string) []string { return []string{"PATH=" + path, "DISPLAY=:0"} }

func TestTheBrowserIsStartedAndNotWaitedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	seen, end := filepath.Join(dir, "seen"), filepath.Join(dir, "end")
	script := "#!/bin/sh\necho \"$@\" >" + seen + ".new && /bin/mv " + seen + ".new " + seen + "\nuntil [ -e " + end +
		" ]; do /bin/sleep 0.05; done\n/bin/rm " + end + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, command), []byte(script), 0o700))
	require.NoError(t, Open(t.Context(), onScreen(dir), page))
	require.Eventually(t, func() bool { got, err := os.ReadFile(seen); return err == nil && string(got) == page+"\n" },
		time.Minute, 5*time.Millisecond)
	require.NoError(t, os.WriteFile(end, nil, 0o600), "it still runs; this ends it")
	require.Eventually(t, func() bool { _, err := os.Stat(end); return os.IsNotExist(err) }, time.Minute,
		5*time.Millisecond)
}

func TestWhatCannotBeShownIsNotStarted(t *testing.T) {
	t.Parallel()
	none := t.TempDir()
	require.ErrorContains(t, Open(t.Context(), onScreen(none), page), command+" is not installed")
	for _, url := range []string{"127.0.0.1:34567", "--help", "file:///etc/passwd", ""} {
		require.ErrorIs(t, Open(t.Context(), onScreen(none), url), ErrNoPage, url)
	}
	require.ErrorIs(t, Open(t.Context(), []string{"PATH=" + none, "DISPLAY=", "SSH_CONNECTION=10.0.0.1 5 10.0.0.2 22"},
		page), ErrNoDisplay)
}
