// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package due

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/config"
)

func TestACommitCallsForADeploymentWhenItTouchesTheApplication(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rule  config.OnCommit
		dir   string
		files []string
		want  string // the reason; empty for no deployment
	}{
		"a file of the application": {
			dir: "apps/web", files: []string{"apps/web/deploy.yaml"}, want: "apps/web/deploy.yaml was changed",
		},
		"a file deep in the application": {
			dir: "apps/web", files: []string{"apps/web/a/b/c"}, want: "apps/web/a/b/c was changed",
		},
		"a file of another application": {dir: "apps/web", files: []string{"apps/webshop/deploy.yaml"}},
		"no file at all":                {dir: "apps/web"},
		"any file, for an application at the top": {
			dir: "./", files: []string{"README.md"}, want: "README.md was changed",
		},
		"a directory that is written with a dot": {dir: "./a", files: []string{"a/x"}, want: "a/x was changed"},
		"a file that paths names": {
			rule: config.OnCommit{Paths: []string{"charts/**"}}, dir: "apps/web", files: []string{"charts/x/y.yaml"},
			want: "charts/x/y.yaml was changed",
		},
		"a file in a directory that paths names": {
			rule: config.OnCommit{Paths: []string{"charts"}}, dir: "apps/web", files: []string{"charts/x/y.yaml"},
			want: "charts/x/y.yaml was changed",
		},
		"a file that paths takes out again": {
			rule: config.OnCommit{Paths: []string{"charts", "!charts/*.md"}}, dir: "apps/web",
			files: []string{"charts/a.md"},
		},
		"only ignored files": {
			rule: config.OnCommit{Ignores: []string{"**/*.md"}}, dir: "apps/web", files: []string{"apps/web/README.md"},
		},
		"an ignored file next to one that counts": {
			rule: config.OnCommit{Ignores: []string{"**/*.md"}}, dir: "apps/web",
			files: []string{"apps/web/README.md", "apps/web/x"}, want: "apps/web/x was changed",
		},
		"an ignored file of another application": {
			rule: config.OnCommit{Ignores: []string{"apps/shop"}}, dir: "apps/web",
			files: []string{"apps/shop/x", "apps/web/x"}, want: "apps/web/x was changed",
		},
		"a file that both paths and ignores name": {
			rule: config.OnCommit{Paths: []string{"charts"}, Ignores: []string{"charts/*.md"}}, dir: "apps/web",
			files: []string{"charts/a.md"},
		},
		"a file of a directory that ignores names": {
			rule: config.OnCommit{Ignores: []string{"apps/web/docs"}}, dir: "apps/web",
			files: []string{"apps/web/docs/a/b"},
		},
		"a pattern with a slash before it": {
			rule: config.OnCommit{Paths: []string{"/charts", "../web/charts"}}, dir: "apps/web",
			files: []string{"charts/a"},
		},
		"a pattern is no regular expression": {
			rule: config.OnCommit{Paths: []string{"charts/.*"}}, dir: "apps/web", files: []string{"charts/a"},
		},
		"a commit that matters to a disabled trigger": {
			rule: config.OnCommit{Disabled: true}, dir: "apps/web", files: []string{"apps/web/x"},
		},
		"a disabled trigger whose paths would matter": {
			rule: config.OnCommit{Disabled: true, Paths: []string{"**"}}, dir: "apps/web", files: []string{"x"},
		},
		"a single character where paths has a ? for it": {
			rule: config.OnCommit{Paths: []string{"chart?/a"}}, dir: "apps/web", files: []string{"charts/a"},
			want: "charts/a was changed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reason, due, err := OnCommit(
				test.rule, test.dir, "old", "new", func() ([]string, error) { return test.files, nil },
			)
			require.NoError(t, err)
			require.Equal(t, test.want, reason)
			require.Equal(t, test.want != "", due)
		})
	}
}

func TestTheFilesOfACommitAreOnlyComparedWhenTheyMatter(t *testing.T) {
	t.Parallel()
	failing := func() ([]string, error) { return nil, errors.New("no such commit") }
	_, due, err := OnCommit(config.OnCommit{}, "a", "", "new", failing)
	require.NoError(t, err)
	require.True(t, due, "what was never deployed is due")
	_, due, err = OnCommit(config.OnCommit{Disabled: true}, "a", "", "new", failing)
	require.NoError(t, err)
	require.False(t, due, "unless its trigger is disabled")
	_, due, err = OnCommit(config.OnCommit{}, "a", "new", "new", failing)
	require.NoError(t, err)
	require.False(t, due, "what was deployed from this commit is not due")
	_, _, err = OnCommit(config.OnCommit{}, "a", "old", "new", failing)
	require.ErrorContains(t, err, "no such commit")
}

func BenchmarkACommitToEveryOfAThousandApplications(b *testing.B) {
	var files []string
	for i := range 1000 {
		files = append(files, fmt.Sprintf("app-%04d/round", i))
	}
	for b.Loop() {
		for i := range files {
			_, touched, err := Touches(config.OnCommit{}, fmt.Sprintf("app-%04d", i), files)
			require.NoError(b, err)
			require.True(b, touched)
		}
	}
}
