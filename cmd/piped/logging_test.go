// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestLogsHoldNoWordsOfGRPC(t *testing.T) {
	t.Parallel()
	for encoding, want := range map[string]string{
		"humanize": `error="no such piped"`, "console": `error="no such piped"`, "json": `"error":"no such piped"`,
	} {
		t.Run(encoding, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			logger, err := newLogger(&out, "info", encoding)
			require.NoError(t, err)
			logger.Warn("failed", "error", status.Error(codes.NotFound, "no such piped"))
			require.Contains(t, out.String(), want)
		})
	}
}
