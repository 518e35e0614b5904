// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginflag

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A plugin's configuration file has to mean what it would mean inside a piped configuration.
func TestAPluginConfigurationIsReadAsPipedReadsIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want, mistake string }{
		"an empty file":          {text: "", want: "null"},
		"comments only":          {text: "---\n# config:\n  # a: 1\n\n", want: "null"},
		"an empty mapping":       {text: "{}\n", want: "null"},
		"a byte order mark":      {text: "\ufeffconfig: {a: 1}\n", want: `{"a":1}`},
		"JSON":                   {text: `{"config": {"a": 1}}`, want: `{"a":1}`},
		"lines for Windows":      {text: "config:\r\n  a: 1\r\n", want: `{"a":1}`},
		"an anchor and an alias": {text: "config: {a: &x [1], b: *x}\n", want: `{"a":[1],"b":[1]}`},
		"a merge key": {text: "config: {a: &x {c: 1}, b: {<<: *x}}\n",
			want: `{"a":{"c":1},"b":{"c":1}}`},
		"words of YAML 1.1 are text":    {text: "config: {a: yes, b: off}\n", want: `{"a":"yes","b":"off"}`},
		"words of YAML 1.2 are no text": {text: "config: {a: true, b: null}\n", want: `{"a":true,"b":null}`},
		"octal numbers of YAML 1.1":     {text: "config: {a: 0644}\n", want: `{"a":420}`},
		"octal numbers of YAML 1.2":     {text: "config: {a: 0o644}\n", want: `{"a":420}`},
		"a key that is given twice": {text: "config: {}\nconfig: {}\n",
			mistake: ":2:1: key \"config\" is given twice"},
		"a bracket that is not closed": {text: "config: {a: 1\n", mistake: ":1:9: not valid YAML"},
		"a tab for indentation":        {text: "config:\n\ta: 1\n", mistake: ":2:1: not valid YAML"},
		"an alias without an anchor":   {text: "config: {a: *x}\n", mistake: ":1:13: alias *x has no anchor"},
		"a second document": {text: "config: {}\n---\nconfig: {}\n",
			mistake: ":3:1: the file holds a second"},
		"an unknown key": {text: "confg: {}\n",
			mistake: `:1:1: confg: unknown key "confg" is not read; did you mean "config"?`},
		"a list": {text: "- config\n", mistake: ":1:1: the file holds no keys, but a list; want the keys of a plugin"},
		"text for a mapping": {text: "config: a\n",
			mistake: `:1:9: config: "a" is not allowed here: want a mapping`},
		"a deploy target without a name": {text: "deployTargets: [{}]\n",
			mistake: ":1:17: deployTargets[0].name: is required"},
		"a build without a command that runs it": {text: "build: [make]\nwatch: [a]\n",
			mistake: ":1:8: build: needs run besides: the command that runs what is built"},
		"a build without its sources": {text: "build: [make]\nrun: [./a]\n",
			mistake: ":1:8: build: needs watch besides: the files that the plugin is made of"},
		"sources of a Go package": {text: "watch: ['*.go']\n",
			mistake: ":1:8: watch: needs run besides: the command that runs the plugin"},
		"a command without a program": {text: "run: ['', a]\n", mistake: "run[0]: is empty: want a program"},
		"a command as one text":       {text: "run: node main.js\n", mistake: ":1:6: run: "},
		"sources above the directory": {text: "run: [a]\nwatch: [../b]\n",
			mistake: `:2:9: watch[0]: "../b" is not allowed here: want a pattern relative to the directory`},
		"a pattern that is none": {text: "run: [a]\nwatch: ['[']\n", mistake: `watch[0]: "[" is not allowed here`},
		"a pattern that takes for ever": {text: "run: [a]\nwatch: ['**/a/**/a/**/a/**/a/**']\n",
			mistake: "watch[0]: "},
		"more text than piped would read": {text: "config: {a: " + strings.Repeat("b", 1<<20) + "}\n",
			mistake: "is larger than"},
		"more lines than piped would read": {text: strings.Repeat("\n", 30_000) + "config: {}\n",
			mistake: "more than 20000 lines"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "piped-plugin.yaml")
			require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
			read, err := ReadConfig(path)
			if c.mistake != "" {
				require.ErrorContains(t, err, c.mistake)
				require.ErrorContains(t, err, path)
				return
			}
			require.NoError(t, err)
			got, err := json.Marshal(read.Config)
			require.NoError(t, err)
			require.JSONEq(t, c.want, string(got))
		})
	}
}

func FuzzPluginConfig(f *testing.F) {
	f.Add([]byte("config: {a: 1}\ndeployTargets:\n  - name: t\n    config: {b: [c]}\nlimits: {memory: 1Gi}\n"))
	f.Add([]byte("a: &x [*x]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), ConfigName)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		if c, err := ReadConfig(path); err == nil {
			_, err := json.Marshal(c) // as it goes to a plugin
			require.NoError(t, err)
		}
	})
}
