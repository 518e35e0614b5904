// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdktest_test

import (
	"context"
	"io"
	"sync"
	"testing"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
	"github.com/pipedeck/pipedeck/plugins/sdk/sdktest"
)

// say writes in every way to a log.
func say(log sdk.StageLog) {
	log.Info("begin\nsecond line")
	_, _ = io.WriteString(log, "out")
	_, _ = io.WriteString(log, "put\nrest")
	log.Successf("%d done", 3)
	part := log.Prefixed("[east] ")
	part.Error("lost\nagain")
	lines := part.Prefixed("> ").Lines()
	_, _ = io.WriteString(lines, "a\nb\xff")
	_ = lines.Close()
	_, _ = io.WriteString(log, "last")
}

type saying struct{ behaving }

func (saying) ExecuteStage(_ context.Context, req *sdk.StageRequest[sdk.None]) (sdk.Result, error) {
	say(req.Log)
	return sdk.Success, nil
}

func TestTheLogForTestsShowsWhatUsersSee(t *testing.T) {
	t.Parallel()
	log := sdktest.NewLog(t)
	say(log)
	require.Equal(t, "begin\nsecond line\noutput\nrest\n3 done\n[east] lost\n[east] again\n[east] > a\n[east] > "+
		"b\uFFFD\nlast\n", log.Text())
	entries := log.Entries()
	require.Equal(t, sdktest.Entry{Severity: sdktest.Success, Text: "3 done"}, entries[3])
	require.Equal(t, sdktest.Entry{Severity: sdktest.Error, Text: "[east] lost\n[east] again"}, entries[4])

	h := sdktest.Start(t, sdk.ForStages(saying{}), sdktest.Options{})
	require.Equal(t, sdk.StageSuccess, h.Execute(t, "BEHAVE", "{}"))
	require.Equal(t, h.Piped.Log("behave"), log.Text(), "as in a running plugin")
	var failed []sdktest.Entry
	for _, entry := range h.Piped.Entries("behave") {
		if entry.Severity == sdktest.Error {
			failed = append(failed, entry)
		}
	}
	require.Equal(t, []sdktest.Entry{entries[4]}, failed)
}

func TestALogTakesLinesFromSeveralGoroutines(t *testing.T) {
	t.Parallel()
	log := sdktest.NewLog(t)
	var writing sync.WaitGroup
	for range 8 {
		writing.Go(func() {
			for range 50 {
				log.Info("entry")
				_, _ = io.WriteString(log, "line\n")
			}
		})
	}
	writing.Wait()
	require.Len(t, log.Entries(), 800)
}
