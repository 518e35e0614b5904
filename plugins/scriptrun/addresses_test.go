// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/system/servicefile"
)

// Not parallel: the variable belongs to the process.
func TestEachScriptGetsTheAddressesThatAreKnownWhenItStarts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "services.env")
	t.Setenv(servicefile.Variable, path)
	h := start(t)
	run := func(o options) string {
		before := len(h.Piped.Log(stageID))
		require.Equal(t, model.StageStatus_STAGE_SUCCESS, h.Execute(t, stageScriptRun, with(t, o)))
		return h.Piped.Log(stageID)[before:]
	}
	const url = "PIPEDECK_SERVICE_DEFAULT_WEB_URL"
	show := options{Run: `echo "web is at [$` + url + `], path is [$PATH]"`}
	require.Contains(t, run(show), "web is at []", "no address is known yet")

	write := func(content string) { require.NoError(t, os.WriteFile(path, []byte(content), 0o600)) }
	write(url + "=http://127.0.0.1:13579\nPATH=/nowhere\n# words\nPIPEDECK_SERVICE_\n")
	shown := run(show)
	require.Contains(t, shown, "web is at [http://127.0.0.1:13579]")
	require.NotContains(t, shown, "/nowhere", "the file sets addresses only")

	write(url + "=http://127.0.0.1:24680\n")
	require.Contains(t, run(show), "web is at [http://127.0.0.1:24680]")
	show.Env = variables{url: "mine"}
	require.Contains(t, run(show), "web is at [mine]", "the stage's own variables win")
	show.Env = nil

	write(strings.Repeat("#", servicefile.MaxSize+1))
	shown = run(show)
	require.Contains(t, shown, "The script does not get the addresses of services: "+path+" has more than 256 KiB")
	require.Contains(t, shown, "web is at []")
}
