// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
)

// A case that is added is run against the published plugins before the page says how many cases there are.
func TestThePublishedResultsAreOfAllCases(t *testing.T) {
	t.Parallel()
	rows := regexp.MustCompile(`(?m)^\| (.*?) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (.*) \|$`).
		FindAllStringSubmatch(pageResults, -1)
	_, table, _ := strings.Cut(pageResults, "| plugin | passed | failed | noted | not applicable | failed cases |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	require.Len(t, rows, strings.Count(table, "\n")) // without the line below the heads
	for _, row := range rows {
		sum := 0
		for _, column := range row[2:6] {
			number, err := strconv.Atoi(column)
			require.NoError(t, err)
			sum += number
		}
		require.Equal(t, len(Cases()), sum, row[1])
		named := regexp.MustCompile("`[a-z.-]+`").FindAllString(row[6], -1)
		if strings.Contains(row[6], "both of PipeCD's SDK") {
			require.Equal(t, row[3], strconv.Itoa(2+len(named)), row[1])
		}
		for _, id := range named {
			known := slices.ContainsFunc(Cases(), func(c Case) bool { return "`"+c.ID+"`" == id })
			require.True(t, known || !strings.Contains(row[6], "both"), id)
		}
	}
}
