// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var expectation = regexp.MustCompile(`# (error|warning): ([^#]*)`)

// TestValuesThatMeanNothingAreRefused reads files whose comments say what is wrong with their lines. Every line is
// wrong in these ways, and no other line is wrong.
func TestValuesThatMeanNothingAreRefused(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/refused/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			requireExpected(t, data, Check(data, file))
		})
	}
}

// requireExpected compares what is reported of a file with its comments.
func requireExpected(t *testing.T, data []byte, report *Report) {
	t.Helper()
	found := map[string][]string{}
	for severity, list := range map[string]Errors{"error": report.Errors, "warning": report.Warnings} {
		for _, e := range list {
			require.Positive(t, e.Column, e.Error())
			key := severity + " in line " + strings.Split(string(data), "\n")[e.Line-1]
			found[key] = append(found[key], e.Error())
		}
	}
	for line := range strings.SplitSeq(string(data), "\n") {
		wanted := map[string][]string{}
		for _, want := range expectation.FindAllStringSubmatch(line, -1) {
			key := want[1] + " in line " + line
			wanted[key] = append(wanted[key], strings.TrimSpace(want[2]))
		}
		for key, messages := range wanted {
			require.Len(t, found[key], len(messages), "%s: %q", key, found[key])
			for _, message := range messages {
				require.Contains(t, strings.Join(found[key], "\n"), message, key)
			}
			delete(found, key)
		}
	}
	require.Empty(t, found, "lines that are said to be right")
}
