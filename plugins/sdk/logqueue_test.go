// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
)

func noon() time.Time { return time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC) }

func outputLine(text string) entry { return entry{text: []byte(text), joinable: true} }

func entryTexts(entries []entry) (all []string) {
	for _, e := range entries {
		all = append(all, string(e.text))
	}
	return all
}

func TestLinesThatWaitTogetherBecomeOneEntry(t *testing.T) {
	t.Parallel()
	q := newLogQueue(nil, noon)
	for _, e := range []entry{
		outputLine("a\n"), outputLine("b\n"), outputLine("unfinished"), outputLine("c\n"),
		{text: []byte("an entry")}, outputLine("d\n"), {text: []byte("e"), severity: model.LogSeverity_ERROR},
	} {
		q.push(e)
	}
	q.push(outputLine(string(bytes.Repeat([]byte("x"), maxBlockBytes)) + "\n"))
	q.close()
	batch, last := q.take()
	require.True(t, last)
	require.Equal(t, []string{"a\nb\nunfinished", "c\n", "an entry", "d\n", "e"}, entryTexts(batch)[:5])
	require.Len(t, batch, 6)
	require.EqualValues(t, 3, batch[0].sequence, "the last line that was joined")
	require.EqualValues(t, 8, batch[5].sequence)
	require.Zero(t, q.bytes)
}

func TestABatchFitsIntoAMessage(t *testing.T) {
	t.Parallel()
	q := newLogQueue(nil, noon)
	text := make([]byte, maxBlockBytes)
	const entries = 3 * maxBatchBytes / maxBlockBytes
	for range entries {
		q.push(entry{text: text})
	}
	q.close()
	got := 0
	for last := false; !last; {
		var batch []entry
		batch, last = q.take()
		size := 0
		for _, e := range batch {
			size += e.size()
		}
		require.LessOrEqual(t, size, maxBatchBytes)
		got += len(batch)
	}
	require.Equal(t, entries, got)

	q = newLogQueue(nil, noon)
	q.push(entry{text: make([]byte, 2*maxBatchBytes)})
	batch, last := q.take()
	require.Len(t, batch, 1, "an entry larger than a batch is not held back")
	require.False(t, last)
}

func TestAnEntryIsJoinedWhileABatchBeforeItIsRead(t *testing.T) {
	t.Parallel()
	q := newLogQueue(nil, noon)
	text := make([]byte, maxBlockBytes)
	for range maxBatchBytes/maxBlockBytes + 1 {
		q.push(entry{text: text})
	}
	batch, _ := q.take()
	q.push(outputLine("a\n"))
	read := make(chan int)
	go func() {
		size := 0
		for _, e := range batch {
			size += len(e.text)
		}
		read <- size
	}()
	q.push(outputLine("b\n"))
	require.Equal(t, len(batch)*maxBlockBytes, <-read)
}

func TestAnAbandonedQueueLetsWritersGoAndCountsWhatIsLost(t *testing.T) {
	t.Parallel()
	q := newLogQueue(nil, noon)
	q.push(entry{text: make([]byte, maxQueueBytes)})
	var writers sync.WaitGroup
	for i := range 10 {
		writers.Go(func() { q.push(entry{text: fmt.Append(nil, i)}) })
	}
	q.abandon()
	writers.Wait()
	require.Equal(t, 11, q.losses())
	q.lose(2)
	require.Equal(t, 13, q.losses())
	batch, last := q.take()
	require.Empty(t, batch)
	require.False(t, last, "its log is not complete")
}
