// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package guide

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// varying are the parts of an output that each run has its own of, with what stands for them.
var varying = []struct {
	form *regexp.Regexp
	by   string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "ID"},
	{regexp.MustCompile(`-[0-9a-z]{8,10}-[0-9a-z]{5}\b`), "-POD"},
	{regexp.MustCompile(`\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?`), "TIME"},
	{regexp.MustCompile(`\b\d\d:\d\d:\d\d(\.\d+)?\b`), "TIME"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "ADDRESS"},
	{regexp.MustCompile(`\b[0-9a-f]{7,64}\b`), "HASH"},
	{regexp.MustCompile(`\b(\d+(\.\d+)?(ms|µs|s|m|h))+\b`), "DURATION"},
	{regexp.MustCompile(`\b\d+(\.\d+)? ?([KMG]i?B)\b`), "SIZE"},
	{regexp.MustCompile(`\s+`), " "},
}

func steady(line string) string {
	for _, part := range varying {
		line = part.form.ReplaceAllString(line, part.by)
	}
	return strings.TrimSpace(line)
}

// dissimilar says where what was printed differs from what a page shows, apart from ids, times, durations, sizes and
// blanks. On the page, … stands for anything within a line, and for any lines where it is alone.
func dissimilar(shown, printed string) string {
	have := nonEmpty(printed)
	at, gap := 0, false
	for _, line := range nonEmpty(shown) {
		if line == "…" {
			gap = true
			continue
		}
		parts := strings.Split(line, "…")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		like := regexp.MustCompile("^" + strings.Join(parts, ".*") + "$")
		from := at
		for at < len(have) && !like.MatchString(have[at]) && gap {
			at++
		}
		if at == len(have) || !like.MatchString(have[at]) {
			return fmt.Sprintf("the page shows:\n%s\nbut printed was:\n%s", line, strings.Join(have[from:], "\n"))
		}
		at, gap = at+1, false
	}
	if !gap && at < len(have) {
		return "the page does not show:\n" + strings.Join(have[at:], "\n")
	}
	return ""
}

func nonEmpty(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = steady(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestOutputIsComparedWithoutWhatVaries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		shown, printed string
		same           bool
	}{
		"times and hashes":    {"12:00:01.1  web 843cc27 in 4.1s", "09:13:44.250  web 0f00baa in 300ms\n", true},
		"columns":             {"NAME   SYNC\nweb    SYNCED", "NAME SYNC\nweb  SYNCED", true},
		"lines left out":      {"a\n…\nd", "a\nb\nc\nd\n", true},
		"a part left out":     {"web: …: refused", "web: 3: no: refused", true},
		"another word":        {"web SYNCED", "web OUT_OF_SYNC", false},
		"a line too many":     {"a\nc", "a\nb\nc", false},
		"an end too many":     {"a", "a\nb", false},
		"an end left out":     {"a\n…", "a\nb", true},
		"a line that is gone": {"a\nb", "a", false},
		"nothing printed":     {"a", "", false},
	} {
		require.Equal(t, c.same, dissimilar(c.shown, c.printed) == "", name)
	}
}
