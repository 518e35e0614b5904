// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnUncaughtErrorIsPickedFromTheLastLines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ output, what, place string }{
		"of Python": {`counting
Exception in thread Thread-1:
Traceback (most recent call last):
  File "/usr/lib/python3.11/threading.py", line 1038, in _bootstrap_inner
    self.run()
  File "/src/main.py", line 22, in <lambda>
    1/0
    ~^~
ZeroDivisionError: division by zero`, "ZeroDivisionError: division by zero", "main.py:22"},
		"of Python, in a library": {`  File "/src/main.py", line 7, in load
    yaml.load(x)
  File "/usr/lib/python3/dist-packages/yaml/__init__.py", line 9, in load
    raise
yaml.scanner.ScannerError`, "yaml.scanner.ScannerError", "main.py:7"},
		"of Node": {`file:///src/stage.js:15
  null.x;
       ^
TypeError: Cannot read properties of null (reading 'x')
    at Array.map (<anonymous>)
    at lib (file:///src/node_modules/lib/index.js:3:9)
    at Object.work (file:///src/stage.js:15:8)
    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)
Node.js v20.20.2`, "TypeError: Cannot read properties of null (reading 'x')", "stage.js:15"},
		"of Node, with a code": {`Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x' imported from /src/main.js
    at packageResolve (node:internal/modules/esm/resolve:854:9)
Node.js v20.20.2`, "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x' imported from /src/main.js", ""},
		"none: words":              {"cannot read the list\ngoing home", "", ""},
		"none: words below others": {"these are missing:\n  a\n  b\nstop", "", ""},
		"none":                     {"", "", ""},
	} {
		what, place := uncaught(strings.Split(c.output, "\n"))
		require.Equal(t, c.what, what, name)
		require.Equal(t, c.place, place, name)
	}
}

func FuzzUncaught(f *testing.F) {
	f.Add("  File \"/a.py\", line 1\nE: x")
	f.Add("E: x\n    at f (/a.js:1:2)\nNode.js v1")
	f.Fuzz(func(t *testing.T, output string) {
		what, place := uncaught(strings.Split(output, "\n"))
		if len(what)+len(place) > len(output)+2 || what == "" && place != "" {
			t.Fatalf("%q at %q", what, place)
		}
	})
}
