// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCatchingUpLeavesNothingInThePipe(t *testing.T) {
	t.Parallel()
	for range 50 {
		reader, writer, err := os.Pipe()
		require.NoError(t, err)
		var got bytes.Buffer // its writes are under the pump's lock
		p, err := newPump(reader, &got)
		require.NoError(t, err)
		var running sync.WaitGroup
		running.Go(p.run)

		want := strings.Repeat("a line of a plugin\n", 3000)
		_, err = writer.WriteString(want)
		require.NoError(t, err)
		p.catchUp() // writer is still open, as a child may hold it
		p.mu.Lock()
		require.Equal(t, want, got.String())
		p.mu.Unlock()

		_, err = writer.WriteString("the end")
		require.NoError(t, err)
		require.NoError(t, writer.Close())
		running.Wait()
		require.Equal(t, want+"the end", got.String())
		require.NoError(t, reader.Close())
	}
}

func TestAPumpEndsAtTheDeadlineOfAPipeThatStaysOpen(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	defer writer.Close()
	defer reader.Close()
	p, err := newPump(reader, &bytes.Buffer{})
	require.NoError(t, err)
	var running sync.WaitGroup
	running.Go(p.run)
	require.NoError(t, reader.SetReadDeadline(time.Now()))
	running.Wait()
}
