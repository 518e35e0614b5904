// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

// logging is a plugin whose stages only write a log.
func logging(write func(log sdk.StageLog)) sdk.Plugin {
	return executing(func(_ context.Context, req *sdk.StageRequest[sdk.None]) (sdk.Result, error) {
		write(req.Log)
		return sdk.Success, nil
	})
}

func TestLogLinesArriveWhileTheStageRuns(t *testing.T) {
	t.Parallel()
	goOn := make(chan struct{})
	h := wiretest.Start(t, logging(func(log sdk.StageLog) {
		log.Infof("step %d", 1)
		<-goOn
		log.Success("done")
		log.Error("but")
	}), wiretest.Options{})
	ended := h.Go(t.Context(), t, "TEST", "{}")
	h.Piped.WaitLog(t, "test", "step 1")
	require.False(t, h.Piped.Completed("test"))
	close(goOn)
	<-ended
	blocks := h.Piped.Blocks("test", true)
	require.Len(t, blocks, 3, "the checkpoint repeats what was sent before")
	for i, want := range []model.LogSeverity{model.LogSeverity_INFO, model.LogSeverity_SUCCESS,
		model.LogSeverity_ERROR} {
		require.Equal(t, want, blocks[i].GetSeverity())
		require.Positive(t, blocks[i].GetCreatedAt())
	}
}

func TestProgramOutputBecomesValidBlocks(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 100_000)
	for name, tc := range map[string]struct {
		writes []string
		want   string
	}{
		"whole lines":                   {writes: []string{"one\ntwo\n"}, want: "one\ntwo\n"},
		"a line in pieces":              {writes: []string{"o", "n", "e\nt", "wo\n"}, want: "one\ntwo\n"},
		"empty lines":                   {writes: []string{"\n", "\n\na\n\n"}, want: "\n\n\na\n\n"},
		"a last line without an end":    {writes: []string{"one\ntw", "o"}, want: "one\ntwo"},
		"nothing":                       {writes: []string{""}, want: ""},
		"bytes that are not UTF-8":      {writes: []string{"a\xff\xfeb\x00\n"}, want: "a\uFFFDb\x00\n"},
		"a character in two pieces":     {writes: []string{"\xc3", "\xa9\n"}, want: "é\n"},
		"a line longer than a block":    {writes: []string{long, long, "\n", "next\n"}, want: long + long + "\nnext\n"},
		"carriage returns stay as they": {writes: []string{"10%\r20%\r\n"}, want: "10%\r20%\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := wiretest.Start(t, logging(func(log sdk.StageLog) {
				for _, text := range tc.writes {
					n, err := log.Write([]byte(text))
					require.NoError(t, err)
					require.Equal(t, len(text), n)
				}
			}), wiretest.Options{})
			h.Execute(t, "TEST", "{}")
			var got strings.Builder
			for _, block := range h.Piped.Blocks("test", true) {
				require.NotEmpty(t, block.GetLog())
				require.LessOrEqual(t, len(block.GetLog()), 64<<10)
				require.True(t, utf8.ValidString(block.GetLog()))
				got.WriteString(block.GetLog())
			}
			require.Equal(t, tc.want, got.String())
			require.True(t, h.Piped.Completed("test"))
		})
	}
}

func TestAnyBlockFitsIntoALineOfPipeCDsStore(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"colours":            strings.Repeat("\x1b", 200_000),
		"markup":             strings.Repeat("<", 200_000) + "\n",
		"short lines":        strings.Repeat("\x1b[32m<ok>\x1b[0m\n", 20_000),
		"not UTF-8":          strings.Repeat("\xff<", 100_000),
		"separators of JSON": strings.Repeat("\u2028", 70_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := wiretest.Start(t, logging(func(log sdk.StageLog) {
				_, _ = log.Write([]byte(text))
				log.Info(text)
			}), wiretest.Options{})
			h.Execute(t, "TEST", "{}")
			blocks := h.Piped.Blocks("test", true)
			require.NotEmpty(t, blocks)
			for _, block := range blocks {
				line, err := json.Marshal(block)
				require.NoError(t, err)
				require.Less(t, len(line), bufio.MaxScanTokenSize)
			}
		})
	}
}

func TestEmptyEntriesAreAllowed(t *testing.T) {
	t.Parallel()
	h := wiretest.Start(t, logging(func(log sdk.StageLog) { log.Info(""); log.Info("a") }), wiretest.Options{})
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, h.Execute(t, "TEST", "{}"))
	require.Equal(t, "\na\n", h.Piped.Log("test"))
}

func TestAnEntryEndsAnUnfinishedLine(t *testing.T) {
	t.Parallel()
	h := wiretest.Start(t, logging(func(log sdk.StageLog) {
		_, _ = log.Write([]byte("unfinished"))
		log.Info("entry")
	}), wiretest.Options{})
	h.Execute(t, "TEST", "{}")
	require.Equal(t, "unfinished\nentry\n", h.Piped.Log("test"))
}

func TestAPartOfALogIsWholeAndHasItsPrefix(t *testing.T) {
	t.Parallel()
	h := wiretest.Start(t, logging(func(log sdk.StageLog) {
		part := log.Prefixed("[east] ")
		part.Info("one\ntwo")
		_, _ = part.Write([]byte("three\nfour"))
	}), wiretest.Options{})
	h.Execute(t, "TEST", "{}")
	require.Equal(t, "[east] one\n[east] two\n[east] three\n[east] four\n", h.Piped.Log("test"))
}

func TestASecondAttemptNeverRepeatsAnIndex(t *testing.T) {
	t.Parallel()
	h := wiretest.Start(t, logging(func(log sdk.StageLog) {
		for range 50 {
			log.Info("line")
		}
	}), wiretest.Options{})
	h.Execute(t, "TEST", "{}")
	h.Execute(t, "TEST", "{}")
	require.Len(t, h.Piped.Blocks("test", true), 100)
}

// A piped that is slow gets few large messages, none of them too large, and every line.
func TestALogLargerThanAMessageArrivesWhole(t *testing.T) {
	t.Parallel()
	const writers, lines = 4, 50_000
	h := wiretest.Start(t, logging(func(log sdk.StageLog) {
		var group sync.WaitGroup
		for w := range writers {
			group.Go(func() {
				out := log.Lines()
				for i := range lines {
					fmt.Fprintf(out, "writer %d line %06d with some more text\n", w, i)
				}
				_ = out.Close()
			})
		}
		group.Wait()
	}), wiretest.Options{})
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, h.Execute(t, "TEST", "{}"))

	next := make([]int, writers)
	for _, block := range h.Piped.Blocks("test", true) {
		for line := range strings.Lines(block.GetLog()) {
			var w, i int
			_, err := fmt.Sscanf(line, "writer %d line %d", &w, &i)
			require.NoError(t, err)
			require.Equal(t, next[w], i, "in order, none missing")
			next[w]++
		}
	}
	require.Equal(t, []int{lines, lines, lines, lines}, next)
}

func TestLogCallsAreRepeatedUntilPipedTakesThem(t *testing.T) {
	t.Parallel()
	var failures atomic.Int32
	h := wiretest.Start(t, logging(func(log sdk.StageLog) { log.Info("a") }), wiretest.Options{})
	h.Piped.OnCall(func(string) error {
		if failures.Add(1) <= 3 {
			return status.Error(codes.Unavailable, "busy")
		}
		return nil
	})
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, h.Execute(t, "TEST", "{}"))
	require.Equal(t, "a\n", h.Piped.Log("test"))
	require.Len(t, h.Piped.Blocks("test", true), 1)
}

func TestARefusedLogLeavesANote(t *testing.T) {
	t.Parallel()
	var refused atomic.Bool
	h := wiretest.Start(t, logging(func(log sdk.StageLog) { log.Info("a") }), wiretest.Options{})
	h.Piped.OnCall(func(method string) error {
		if method == "ReportStageLogs" || refused.CompareAndSwap(false, true) {
			return status.Error(codes.ResourceExhausted, "too large")
		}
		return nil
	})
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, h.Execute(t, "TEST", "{}"))
	require.Contains(t, h.Piped.Log("test"), "1 entries of this log are missing here, piped refused them")
	require.True(t, h.Piped.Completed("test"))
}

func TestEntriesThatAreWrittenByTheThousandAreSentTogether(t *testing.T) {
	t.Parallel()
	const entries = 50_000
	written := make(chan struct{})
	h := wiretest.Start(t, logging(func(log sdk.StageLog) {
		for i := range entries {
			log.Infof("entry %05d", i)
		}
		log.Error("at last")
		close(written)
	}), wiretest.Options{})
	h.Piped.OnCall(func(string) error { // piped is slower than the stage, on every machine
		<-written
		return nil
	})
	h.Execute(t, "TEST", "{}")
	blocks := h.Piped.Blocks("test", true)
	last := len(blocks) - 1
	require.Less(t, last, entries/10)
	require.Equal(t, model.LogSeverity_ERROR, blocks[last].GetSeverity())
	require.Equal(t, "at last", blocks[last].GetLog())
	next := 0
	for _, block := range blocks[:last] {
		require.Equal(t, model.LogSeverity_INFO, block.GetSeverity())
		require.LessOrEqual(t, len(block.GetLog()), 10<<10)
		for line := range strings.SplitSeq(block.GetLog(), "\n") {
			if want := fmt.Sprintf("entry %05d", next); line != want {
				require.Equal(t, want, line)
			}
			next++
		}
	}
	require.Equal(t, entries, next)
}
