// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Beginnings of the other kinds of files.
const (
	eventsOf    = "apiVersion: pipecd.dev/v1beta1\nkind: EventWatcher\nspec:\n  events: "
	templatesOf = "apiVersion: pipecd.dev/v1beta1\nkind: AnalysisTemplate\nspec:\n  "
	binariesOf  = "formatVersion: 1\nplugins:\n  canary:\n    versions:\n      v1.0.0:\n        "
)

// TestWrongFilesOfEveryKindAreRefusedAtTheRightPlace has, in each row, the name of a file, and its content with the
// mark § at the one mistake.
func TestWrongFilesOfEveryKindAreRefusedAtTheRightPlace(t *testing.T) {
	t.Parallel()
	digest := strings.Repeat("0a", 32)
	rows := []struct{ name, text, says string }{
		// Event watcher files.
		{"e.yaml", eventsOf + "[{name: a, replacements: [{file: a, §yamlfield: $.a}]}]\n",
			`did you mean "yamlField"?`},
		{"e.yaml", eventsOf + "[§{replacements: [{file: a, regex: (b)}]}]\n", "events[0].name: is required"},
		{"e.yaml", eventsOf + "[{name: a, replacements: [§{regex: (b)}]}]\n", "replacements[0].file: is required"},
		{"e.yaml", eventsOf + "[{name: a, replacements: [§{file: b}]}]\n", "needs one of yamlField, jsonField"},
		{"e.yaml", eventsOf + "[{name: a, §replacement: [{file: a, regex: (b)}]}]\n", `did you mean "replacements"?`},
		{"e.yaml", eventsOf + "§{name: a}\n", "want a list"},
		{"e.yaml", eventsOf + "[{name: a, replacements: [{file: §../a, regex: (b)}]}]\n",
			"leads outside of the repository"},
		{"e.yaml", eventsOf + "[{name: a, replacements: [{file: a, regex: §b}]}]\n", "has no group"},
		{"e.yaml", eventsOf + "[{name: a, replacements: [{file: a, yamlField: §\"a[[\"}]}]\n",
			"is not the path of a field"},
		{"e.yaml", strings.Replace(eventsOf, "events", "§event", 1) + "[]\n", `did you mean "events"?`},
		{"e.yaml", strings.Replace(eventsOf, "EventWatcher", "§EventWacher", 1) + "[]\n",
			`did you mean "EventWatcher"?`},
		{"e.json", "{\"apiVersion\": \"pipecd.dev/v1beta1\", \"kind\": \"EventWatcher\", \"spec\": {\"events\":\n" +
			" [{\"name\": \"a\", \"labels\": §[\"b\"], \"replacements\": [{\"file\": \"a\", \"regex\": \"(b)\"}]}]}}",
			"want a mapping"},

		// Templates of analyses.
		{"t.yaml", templatesOf + "§metric: {}\n", `did you mean "metrics"?`},
		{"t.yaml", templatesOf + "metrics: §[]\n", "want a mapping"},
		{"t.yaml", templatesOf + "metrics: {rate: §7}\n", "want a mapping"},
		{"t.yaml", templatesOf + "metrics: {rate: {§qurey: q, provider: p, interval: 1m, expected: {max: 1}}}\n",
			`did you mean "query"?`},
		{"t.yaml", templatesOf + "metrics: {rate: §{query: q, interval: 1m, expected: {max: 1}}}\n",
			"rate.provider: is required"},
		{"t.yaml", templatesOf + "metrics: {rate: §{query: q, provider: p, interval: 1m}}\n",
			"rate.expected: is required"},
		{"t.yaml", templatesOf + "metrics: {rate: {query: q, provider: p, interval: 1m, expected: §{}}}\n",
			"needs min or max"},
		{"t.yaml", templatesOf + "metrics: {rate: {query: q, provider: p, interval: §often, expected: {max: 1}}}\n",
			"want a duration"},
		{"t.yaml", templatesOf + "metrics: {rate: {query: q, provider: p, interval: 1m, strategy: §PREVIUS}}\n",
			`did you mean "PREVIOUS"?`},
		{"t.yaml", templatesOf + "logs: {errors: {query: §1, provider: p, interval: 1m}}\n", "write it in quotes"},
		{"t.yaml", templatesOf + "logs: {errors: {query: q, provider: p, interval: 1m, §template: {name: a}}}\n",
			`unknown key "template" is not read`},
		{"t.yaml", templatesOf + "https: {ping: {url: \"http://u\", interval: 1m, expectedCode: §\"200\"}}\n",
			"want a whole number"},
		{"t.yaml", strings.Replace(templatesOf, "AnalysisTemplate", "§AnalysisTemplates", 1) + "metrics: {}\n",
			`did you mean "AnalysisTemplate"?`},
		{"t.json", "{\"apiVersion\": \"pipecd.dev/v1beta1\", \"kind\": \"AnalysisTemplate\",\n \"spec\": {\"logs\": " +
			"{\"a\": {\"query\": \"q\", \"provider\": \"p\", \"interval\": \"1m\",\n  §\"failureLimits\": 1}}}}",
			`did you mean "failureLimit"?`},

		// Plugins under development.
		{"piped-plugin.yaml", "§confg: {}\n", `did you mean "config"?`},
		{"piped-plugin.yaml", "config: §7\n", "want a mapping"},
		{"piped-plugin.yaml", "deployTargets: [§{labels: {a: b}}]\n", "deployTargets[0].name: is required"},
		{"piped-plugin.yaml", "deployTargets: [{name: a}, {name: §a}]\n", "is used already by deployTargets[0].name"},
		{"piped-plugin.yaml", "deployTargets: [{name: a, config: §[]}]\n", "want a mapping"},
		{"piped-plugin.yaml", "limits: {memory: §lots}\n", "want at least 16Mi"},
		{"piped-plugin.yaml", "stages: [A, §A]\n", "is used already by stages[0]"},
		{"piped-plugin.yaml", "§apiVersion: pipecd.dev/v1beta1\nconfig: {}\n", "known keys are build, config"},
		{"greeter.yaml", "config: {}\n§limit: {pids: 20}\n", `did you mean "limits"?`},
		{"greeter.json", "{\"config\": {}, \"limits\": {\"cpu\": §\"1\"}}", "want a number"},

		// Plugin indexes.
		{"index.yaml", binariesOf + "linux/amd64: {url: a, sha256: §abc}\n", "want 64 digits 0-9a-f"},
		{"index.yaml", binariesOf + "linux/amd64: §{url: a}\n", "sha256: is required"},
		{"index.yaml", binariesOf + "§linux/amd46: {url: a, sha256: " + digest + "}\n", `did you mean "linux/amd64"?`},
		{"index.yaml", binariesOf + "§linux-amd64: {url: a, sha256: " + digest + "}\n", `did you mean "linux/amd64"?`},
		{"index.yaml", binariesOf + "linux/amd64: {§urll: a, sha256: " + digest + "}\n", `did you mean "url"?`},
		{"index.yaml", binariesOf + "linux/amd64: {url: §\"%\", sha256: " + digest + "}\n", "url cannot be read"},
		{"index.yaml", binariesOf + "§linux/amd64:\n", "is not 64 digits"},
		{"index.yaml", "formatVersion: §2\nplugins: {}\n", "want 1"},
		{"plugins.yaml", "§plugin: {}\n", `did you mean "plugins"?`},
		{"plugins.yaml", "plugins: {}\n§plugins: {}\n", "is given twice"},
		{"index.json", "{\"formatVersion\": 1, \"plugins\": {\"canary\": {§\"version\": {}}}}",
			`did you mean "versions"?`},
		{"index.json", "{\"plugins\": {§\"a/b\": {\"versions\": {}}}}",
			"want at most 100 letters"},
		{"index.json", "{\"plugins\": {\"a\": {\"versions\": {§\"v 1\": {}}}}}", "want a version such as v1.2.0"},
		{"index.json", "{\"plugins\": §[]}", "want a mapping"},
	}
	require.GreaterOrEqual(t, len(rows), 40)
	for _, row := range rows {
		requireRefused(t, row.name, row.text, row.says)
	}
}
