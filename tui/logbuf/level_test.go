// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package logbuf_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/logbuf"
)

func TestTheLevelOfALineIsRecognised(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]logbuf.Level{
		`{"level":"warn","msg":"slow"}`:                              logbuf.Warn,
		`{"msg":"x", "level": "ERROR"}`:                              logbuf.Failure,
		`{"time":1,"severity":"WARNING"}`:                            logbuf.Warn,
		`{"level":50,"msg":"boom"}`:                                  logbuf.Failure,
		`{"level":30,"msg":"fine"}`:                                  logbuf.Normal,
		"time=12:00 level=error msg=boom":                            logbuf.Failure,
		"lvl=dbug x":                                                 logbuf.Normal,
		"level=debug x":                                              logbuf.Debug,
		"W1123 14:22:08.123456 4711 reflector.go:1] watch ended":     logbuf.Warn,
		"E1123 14:22:08.123456 4711 reflector.go:1] failed":          logbuf.Failure,
		"2026-11-23T14:22:08Z WARN retrying":                         logbuf.Warn,
		"2026/11/23 [error] 12#12: *1 open() failed":                 logbuf.Failure,
		"panic: runtime error: index out of range":                   logbuf.Failure,
		"Error: no such file":                                        logbuf.Failure,
		"warning: unused variable":                                   logbuf.Warn,
		"  ERROR in src/main.ts":                                     logbuf.Failure,
		"2 of 4 pods ready, no error":                                logbuf.Normal,
		"ERRORS_TOTAL=0":                                             logbuf.Normal,
		"error-free deployment":                                      logbuf.Normal,
		"the user typed error: nothing":                              logbuf.Normal,
		"":                                                           logbuf.Normal,
		"DEBUG cache hit":                                            logbuf.Debug,
		"I1123 14:22:08.123456 4711 main.go:1] ERROR is in the text": logbuf.Normal,
	} {
		got, _ := logbuf.LevelOf(text)
		require.Equal(t, want, got, text)
	}
	_, found := logbuf.LevelOf("applying 3 objects")
	require.False(t, found)
}
