// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/clip"
)

func TestMistakesAreReportedWithTheirPlace(t *testing.T) {
	t.Parallel()
	const all, hint = "kill, delay, unavailable, hang, status or flood", "; did you mean kill?"
	for text, want := range map[string]string{
		"":                                  "column 1: want STAGE: ACTION",
		"WAIT":                              "column 5: want STAGE: ACTION",
		": hang":                            "column 1: a stage is missing",
		"WAIT:":                             "column 6: an action is missing: want " + all,
		"WAIT: hang;":                       "column 12: an action is missing",
		"WAIT: kil":                         `column 7: "kil" is not an action of WAIT: want ` + all + hint,
		"WAIT: delay":                       "column 12: delay wants a time",
		"WAIT: delay soon":                  `column 13: "soon" is not a time between 0 and 24h, such as 5s`,
		"WAIT: delay 25h":                   "column 13",
		"WAIT: delay -1s":                   "column 13",
		"WAIT: delay 5s flood 3":            `column 16: "flood" is too much; separate actions with a semicolon`,
		"WAIT: kill@log":                    "column 15: kill@log wants a number",
		"WAIT: kill@end 3":                  `column 12: "end" is unknown: want kill@log N or kill@call N`,
		"WAIT: kill 3":                      "column 12: kill takes no argument",
		"WAIT: hang@log 3":                  "column 11: only kill waits for something",
		"WAIT: hang 3":                      "column 12: hang takes no argument",
		"WAIT: status good":                 `column 14: "good" is not a status: want success, failure, `,
		"WAIT: flood 0":                     `column 13: "0" is not a number between 1 and 1000000`,
		"WAIT: flood 1000001":               "column 13",
		"WAIT: x*kill":                      `column 7: "x" is not a number`,
		"Prüfen: kil":                       "column 9",
		"control-plane: hang":               "is not an action of control-plane: want delay or unavailable",
		"cluster: status failure":           "of cluster: want delay, unavailable, forbidden, conflict or hang",
		"cluster/: hang":                    "column 9: a verb is missing: want get, list,",
		"A/cluster/aply Pod: hang":          `column 11: "aply" is not a verb of calls to a cluster`,
		"cluster/get Pod a b: hang":         `column 19: "b" is too much: want cluster/VERB KIND NAME`,
		"cluster: kill":                     `column 10: "kill" is not an action of cluster`,
		"\xff: hang":                        "it is not UTF-8",
		strings.Repeat("x", 401) + ": hang": "column 402: what stands in front of the colon has more than 400 bytes",
		"WAIT: forbidden":                   `"forbidden" is not an action of WAIT`,
		"A: " + strings.Repeat("x", 5000):   "it has more than 4096 bytes",
		"A: " + strings.Repeat("hang;", 101) + "hang": "there are more than 100 actions",
	} {
		_, err := Parse([]string{"OK: hang", text})
		var mistake *SyntaxError
		require.ErrorAs(t, err, &mistake, text)
		require.ErrorContains(t, err, want)
	}
	set, err := Parse(nil)
	require.NoError(t, err)
	require.Nil(t, set)
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"WAIT: kill@log 3; delay 5s; unavailable 1; hang; status failure; flood 10000", "control-plane: unavailable 3",
		"a:2*kill@call 1", "ä: \t;", "x:*", "x:0*@", "cluster: unavailable",
		"A/cluster/apply Deployment x: 2*conflict 3",
		"cluster/* Pod: hang",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		set, err := Parse([]string{text})
		if err != nil {
			mistake, ok := err.(*SyntaxError)
			if !ok || mistake.Column < 1 || mistake.Column > len(text)+maxRule || mistake.Problem == "" {
				t.Fatalf("%q: %v", text[:min(len(text), 200)], err)
			}
			return
		}
		for _, waiting := range set.List() { // what users see can be read again
			again, err := Parse([]string{waiting.GetRule()})
			if len(waiting.GetRule()) > maxRule { // it says what the user has left out, such as 1
				continue
			}
			if err != nil || again.List()[0].GetRule() != waiting.GetRule() {
				t.Fatalf("%q: %q is %v", text[:min(len(text), 200)], clip.Bytes(waiting.GetRule(), 200), err)
			}
		}
	})
}
