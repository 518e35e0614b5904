// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package yamlplace_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/pipedeck/pipedeck/system/yamlplace"
)

func mistakeIn(text string) error {
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		var document yaml.Node
		if err := decoder.Decode(&document); err != nil {
			return err
		}
	}
}

func TestALineIsThatOfTheMistake(t *testing.T) {
	t.Parallel()
	const (
		key    = "did not find expected key"
		node   = "did not find expected node content"
		nested = "mapping values are not allowed in this context"
		list   = "did not find expected ',' or ']'"
		token  = "found character that cannot start any token"
	)
	tests := map[string]struct {
		text    string
		line    int
		problem string
	}{
		"a key that stands too far left":              {"a:\n    b: 1\n  c: 2\n", 3, key},
		"a key that stands too far right":             {"a: 1\n  b: 2\n", 2, nested},
		"a map that begins below":                     {"# x\n\nkind: a\nspec:\n  b: 1\n c: 2\n", 6, key},
		"a map in a list":                             {"a:\n- b: 1\n c: 2\n", 3, key},
		"an item in a map":                            {"a:\n  b: 1\n- c\n", 3, key},
		"the last line":                               {"a: 1\n}", 2, key},
		"the first line":                              {"}", 1, node},
		"a list that is not closed":                   {"a: 1\nb: [1, 2\nc: 3\nd: 4\n", 2, list},
		"a map that is not closed at the end":         {"a: 1\nb: {c: 1\n", 2, "did not find expected ',' or '}'"},
		"a list that is not closed in the first line": {"a: [\n", 1, node},
		"an item that is left out":                    {"a: 1\nb: [1,, 2]\nc: 1\n", 2, node},
		"the second document":                         {"a: 1\n---\nb:\n    c: 1\n  d: 1\n", 5, key},
		"text after a quoted one":                     {"a: 1\nb: 'x' y\nc: 1\n", 2, key},
		"a template":                                  {"a: 1\nb: {{ .c }}d\ne: 1\n", 2, key},
		"windows":                                     {"a:\r\n    b: 1\r\n  c: 2\r\n", 3, key},
		"a tab":                                       {"a:\n\tb: 1\n", 2, token},
		"an anchor that is unknown":                   {"a: *b\n", 0, "unknown anchor 'b' referenced"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := mistakeIn(tt.text)
			line, problem := yamlplace.Of([]byte(tt.text), err)
			require.Equal(t, tt.problem, problem, "%v", err)
			require.Equal(t, tt.line, line, "%v", err)
			line, _ = yamlplace.Of([]byte(tt.text), fmt.Errorf("cannot load x.yaml: %w", err))
			require.Equal(t, tt.line, line, "%v", err)
		})
	}
}

func TestOtherErrorsStayAsTheyAre(t *testing.T) {
	t.Parallel()
	other := errors.New("no space left")
	require.Equal(t, other, yamlplace.Error(nil, other))
	require.NoError(t, yamlplace.Error(nil, nil))
	require.EqualError(t, yamlplace.Error([]byte("a:\n    b: 1\n  c: 2\n"), mistakeIn("a:\n    b: 1\n  c: 2\n")),
		"line 3: did not find expected key")
}

func TestTheSearchForALineIsBounded(t *testing.T) {
	t.Parallel()
	for items, want := range map[int]int{100: 104, 3000: 2} {
		text := "# x\na:\n  b: 1\n" + strings.Repeat("  c: "+strings.Repeat("x", 500)+"\n", items) + " d: 1\ne: 1\n"
		err := mistakeIn(text)
		require.ErrorContains(t, err, "line 1: did not find expected key")
		line, _ := yamlplace.Of([]byte(text), err)
		require.Equal(t, want, line)
	}
}

func FuzzPlace(f *testing.F) {
	f.Add("a:\n    b: 1\n  c: 2\n")
	f.Add("a: [\n{")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<10 {
			t.Skip()
		}
		defer func() { _ = recover() }() // of the parser itself, which is not under test
		err := mistakeIn(text)
		line, _ := yamlplace.Of([]byte(text), err)
		if line < 0 || line > strings.Count(text, "\n")+strings.Count(text, "\r")+strings.Count(text, "\u2028")+
			strings.Count(text, "\u2029")+strings.Count(text, "\u0085")+1 {
			t.Fatalf("line %d of %q: %v", line, text, err)
		}
	})
}
