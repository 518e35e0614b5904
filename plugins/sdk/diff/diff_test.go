// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package diff_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pipedeck/pipedeck/plugins/sdk/diff"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
)

func decoded(t *testing.T, text string) (value any) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(&value))
	return value
}

func TestValuesAreComparedFieldByField(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, after, want string }{
		"equal":               {`{"a": [1, {"b": "c"}]}`, `{"a": [1, {"b": "c"}]}`, ""},
		"a changed field":     {`{"spec": {"replicas": 2}}`, `{"spec": {"replicas": 3}}`, "spec.replicas: 2 → 3"},
		"an added field":      {`{}`, `{"a": {"b": [1]}}`, `a: added {"b":[1]}`},
		"a removed field":     {`{"a": true}`, `{}`, "a: removed true"},
		"elements of a list":  {`{"a": [1, 2, 3]}`, `{"a": [1, 5]}`, "a[1]: 2 → 5\na[2]: removed 3"},
		"another type":        {`{"a": "1"}`, `{"a": 1}`, `a: "1" → 1`},
		"empty is absent":     {`{"a": [], "b": {}, "c": null}`, `{"d": {}}`, ""},
		"a value for nothing": {`{"a": null}`, `{"a": 1}`, "a: null → 1"},
		"keys with dots":      {`{"a.b/c": {"": 1}}`, `{"a.b/c": {"": 2}}`, `["a.b/c"][""]: 1 → 2`},
		"numbers": {`{"a": 1.0, "b": 1e3, "c": 9007199254740993}`,
			`{"a": 1, "b": 1000, "c": 9007199254740992}`, "c: 9007199254740993 → 9007199254740992"},
		"the whole": {`[1]`, `"x"`, `: [1] → "x"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after := decoded(t, c.before), decoded(t, c.after)
			require.Equal(t, c.want, diff.Values(before, after, diff.Options{}).String())
			require.Empty(t, diff.Values(before, before, diff.Options{}))
		})
	}
	require.Empty(t, diff.Values(map[string]any{"a": 1}, map[string]any{"a": uint64(1)}, diff.Options{}))
}

func TestFieldsThatOthersFillInCanBeIgnored(t *testing.T) {
	t.Parallel()
	git := decoded(t, `{"spec": {"replicas": 2}}`)
	live := decoded(t, `{"spec": {"replicas": 3, "strategy": "x"}, "status": {"ready": 3}}`)
	require.Equal(t, "spec.replicas: 2 → 3", diff.Values(git, live, diff.Options{OnlyGiven: true}).String())
	ignored := diff.Options{OnlyGiven: true, Ignore: func(path string) bool { return path == "spec.replicas" }}
	require.Empty(t, diff.Values(git, live, ignored))
}

func TestLinesAreAUnifiedDiff(t *testing.T) {
	t.Parallel()
	require.Empty(t, diff.Lines("a\n", "a\n", "old", "new"))
	require.Equal(t, "--- old\n+++ new\n@@ -1,4 +1,4 @@\n-a\n+x\n b\n c\n d\n", diff.Lines("a\nb\nc\nd\ne\n",
		"x\nb\nc\nd\ne\n", "old", "new"))
	require.Equal(t, "--- old\n+++ new\n@@ -0,0 +1,2 @@\n+a\n+b\n", diff.Lines("", "a\nb\n", "old", "new"))
	require.Equal(t, "--- old\n+++ new\n@@ -1 +0,0 @@\n-a\n", diff.Lines("a\n", "", "old", "new"))
	require.Equal(t, "--- old\n+++ new\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n",
		diff.Lines("a\n", "a", "old", "new"))
}

// apply is what patch does.
func apply(t *testing.T, before, patch string) string {
	lines := strings.SplitAfter(before, "\n")
	var made strings.Builder
	next := 0
	sign := byte(' ')
	for line := range strings.Lines(patch) {
		var from, count int
		switch {
		case strings.HasPrefix(line, "---"), strings.HasPrefix(line, "+++"):
		case strings.HasPrefix(line, "@@"):
			place := strings.Fields(line)[1]
			if n, _ := fmt.Sscanf(place, "-%d,%d", &from, &count); n == 1 {
				count = 1
			}
			if count > 0 {
				from--
			}
			for ; next < from; next++ {
				made.WriteString(lines[next])
			}
		case line[0] == '\\':
			if sign != '-' {
				kept := strings.TrimSuffix(made.String(), "\n")
				made.Reset()
				made.WriteString(kept)
			}
		default:
			if sign = line[0]; sign != '+' {
				require.Equal(t, strings.TrimSuffix(lines[next], "\n"), strings.TrimSuffix(line[1:], "\n"))
				next++
			}
			if sign != '-' {
				made.WriteString(line[1:])
			}
		}
	}
	for ; next < len(lines); next++ {
		made.WriteString(lines[next])
	}
	return made.String()
}

func TestADiffOfLinesMakesOneTextOfTheOther(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var made strings.Builder
		for range random.IntN(40) {
			fmt.Fprintf(&made, "%c\n", 'a'+rune(random.IntN(4)))
		}
		if random.IntN(3) == 0 {
			made.WriteString("end")
		}
		return made.String()
	}
	for range 2000 {
		before, after := text(), text()
		patch := diff.Lines(before, after, "old", "new")
		require.Equal(t, after, apply(t, before, patch), "%q to %q:\n%s", before, after, patch)
	}
}

func TestLargeTextsAreReplacedAsAWhole(t *testing.T) {
	t.Parallel()
	var before, after strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&before, "line %d\n", i)
		fmt.Fprintf(&after, "line %d\n", i+i%2)
	}
	patch := diff.Lines(before.String(), after.String(), "old", "new")
	require.Equal(t, after.String(), apply(t, before.String(), patch))
}

func ExampleValues() {
	git := map[string]any{"spec": map[string]any{"replicas": 2, "image": "web:v1"}}
	live := map[string]any{"spec": map[string]any{"replicas": 3, "image": "web:v1", "paused": false}}
	fmt.Println(diff.Values(git, live, diff.Options{OnlyGiven: true}))
	// Output: spec.replicas: 2 → 3
}

func ExampleLines() {
	fmt.Print(diff.Lines("Roses\nare red\n", "Roses\nare blue\n", "running", "target"))
	// Output:
	// --- running
	// +++ target
	// @@ -1,2 +1,2 @@
	//  Roses
	// -are red
	// +are blue
}
