// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build python

package guide

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// deployingKinds are the kinds of plugins that bring applications somewhere, with the cases to check. What they have in
// common is checked once.
var deployingKinds = map[string]string{
	"deployment":  "--only 'planning.*' --only 'strategy.*' --only 'execution.*' --only 'options.*' --only 'schema.*'",
	"livestate":   "--only 'livestate.*' --only 'deploy.*'",
	"planpreview": "--only 'preview.*'",
}

// mistakes put an error into the work at a deploy target, and say what the log has to name, by language.
var mistakes = map[string]struct{ edit, says string }{
	"python": {`sed -i 's/^def put(.*:$/&\n    {}["nokey"]/' deploy.py`, "local: KeyError: 'nokey' (deploy.py:"},
	"node": {`sed -i 's/^async function put(.*{$/&\n  undefined.x;/' deploy.js`,
		"local: TypeError: Cannot read properties of undefined (reading 'x') (deploy.js:"},
}

// deployEachKind creates a plugin of each kind that deploys, tests it, checks it from outside, and deploys an
// application with all of them in one environment. prepare makes a plugin ready and runs its tests.
func deployEachKind(t *testing.T, r *reader, language, prepare string) {
	t.Helper()
	given := ""
	for kind, cases := range deployingKinds {
		given += " --plugin " + kind + "=" + kind
		r.run(t, "pipedeck plugin new "+kind+" --kind "+kind+" --lang "+language+"\ncd "+kind+"\n"+prepare+"\ncd ..")
		tested := r.run(t, "pipedeck plugin test "+kind+" --source "+kind+"/example "+cases)
		require.Contains(t, tested, " 0 failed, 0 noted", kind)
		require.Contains(t, r.run(t, "pipedeck validate "+kind+"/example --plugin "+kind+"="+kind),
			"checked 1 file: 0 errors, 0 warnings")
	}
	r.run(t, "mkdir applications\n"+
		"for p in deployment livestate planpreview; do cp -r $p/example applications/$p; done\n"+
		"cd applications\ngit init -q -b main\ngit add .\ngit commit -q -m Begin\ncd ..")
	deployed := r.run(t, "pipedeck ci applications --cluster none --timeout 3m"+given)
	require.Contains(t, deployed, "3 applications: 3 SUCCESS")
	mistake := mistakes[language]
	r.run(t, "cp -r deployment broken\ncd broken\n"+mistake.edit+"\ncd ..")
	seen := r.run(t, "pipedeck plugin test broken --plugin-name deployment --source deployment/example "+
		"--only execution.ends -o json")
	require.Contains(t, seen, mistake.says)
	for kind := range deployingKinds {
		require.FileExists(t, filepath.Join(r.dir, kind, "deployed", "page.txt"))
	}
}
