// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pipeline is an application whose stages are given one a line, from line 6 on.
func pipeline(stages ...string) []byte {
	return []byte("apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  pipeline:\n    stages:\n      - " +
		strings.Join(stages, "\n      - ") + "\n")
}

func TestStagesRunInTheirOrderUntilOneSaysWhatItNeeds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stages []string
		want   [][]int
	}{
		"no needs at all": {
			[]string{"{name: A}", "{name: B, id: b}", "{name: C}"},
			[][]int{nil, {0}, {1}},
		},
		"a diamond": {
			[]string{"{name: A, id: a}", "{name: B, id: b, needs: [a]}", "{name: C, id: c, needs: [a]}",
				"{name: D, needs: [c, b]}"},
			[][]int{nil, {0}, {0}, {1, 2}},
		},
		"two that start at once, and one after the second": {
			[]string{"{name: A, id: a}", "{name: B, needs: []}", "{name: C}"},
			[][]int{nil, nil, {1}},
		},
		"a stage that needs a later one": {
			[]string{"{name: A, needs: [b]}", "{name: B, id: b, needs: []}"},
			[][]int{{1}, nil},
		},
		"needs without a value are as if not written": {
			[]string{"{name: A}", "{name: B, needs: }"},
			[][]int{nil, {0}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app, err := ParseApplication(pipeline(c.stages...), "app.pipecd.yaml")
			require.NoError(t, err)
			require.Empty(t, app.Warnings)
			require.Equal(t, c.want, app.Pipeline.Requires())

			data, err := json.Marshal(app.Pipeline)
			require.NoError(t, err)
			var again Pipeline
			require.NoError(t, json.Unmarshal(data, &again))
			require.Equal(t, c.want, again.Requires(), "JSON keeps needs that are empty apart from none")
		})
	}
}

func TestMistakesInNeedsAreReportedAtTheirLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stages []string
		want   string
	}{
		"an id twice": {
			[]string{"{name: A, id: a}", "{name: B, id: a}"},
			`:7:23: spec.pipeline.stages[1].id: "a" is used already by spec.pipeline.stages[0].id`,
		},
		"an id with a space": {
			[]string{"{name: A, id: a b}"},
			`:6:23: spec.pipeline.stages[0].id: "a b" is not allowed here: want at most 64 letters, digits, dots, ` +
				`dashes and underscores`,
		},
		"a misspelt id": {
			[]string{"{name: A, id: build}", "{name: B, needs: [biuld]}"},
			`:7:27: spec.pipeline.stages[1].needs[0]: no stage has the id "biuld"; did you mean "build"?`,
		},
		"an unknown id": {
			[]string{"{name: A, id: x}", "{name: B, needs: [somewhere]}"},
			`:7:27: spec.pipeline.stages[1].needs[0]: no stage has the id "somewhere"; known are x`,
		},
		"needs where nothing has an id": {
			[]string{"{name: A}", "{name: B, needs: [A]}"},
			`:7:27: spec.pipeline.stages[1].needs[0]: no stage has the id "A"; give the stage that is meant an id`,
		},
		"an id needed twice": {
			[]string{"{name: A, id: a}", "{name: B, needs: [a, a]}"},
			`:7:30: spec.pipeline.stages[1].needs[1]: "a" is listed already`,
		},
		"a stage that needs itself": {
			[]string{"{name: A, id: a, needs: [a]}"},
			`:6:34: spec.pipeline.stages[0].needs[0]: the stages wait for each other: "a" needs "a"; ` +
				`take out one of these needs`,
		},
		"three in a circle": {
			[]string{"{name: A, id: a, needs: [c]}", "{name: B, id: b, needs: [a]}", "{name: C, id: c, needs: [b]}"},
			`:6:34: spec.pipeline.stages[0].needs[0]: the stages wait for each other: "a" needs "c", "c" needs "b", ` +
				`"b" needs "a"; take out one of these needs`,
		},
		"a circle through the order of the list": {
			[]string{"{name: A, needs: [c]}", "{name: B}", "{name: C, id: c}"},
			`:6:27: spec.pipeline.stages[0].needs[0]: the stages wait for each other: stages[0] needs "c", ` +
				`"c" has no needs, so it runs after stages[1], stages[1] has no needs, so it runs after stages[0]; ` +
				`take out one of these needs`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ParseApplication(pipeline(c.stages...), "app.pipecd.yaml")
			require.EqualError(t, err, "app.pipecd.yaml"+c.want)
		})
	}
}
