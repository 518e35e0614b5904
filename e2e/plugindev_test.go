// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/gobuild"
)

// The environment runs a program of the plugin. Its author has it build the sources, sees the stage run with each save,
// and leaves.
func TestAnAuthorSeesEachSaveRunTheStageAndTheDeploymentStays(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repo := e.newGreeter(time.Minute)
	program := filepath.Join(t.TempDir(), "greeter")
	flags, environ := gobuild.Shared(false, os.Getenv("GOFLAGS"))
	build := exec.Command("go", append(append([]string{"build"}, flags...), "-o", program, ".")...)
	build.Dir, build.Env = repo, append(os.Environ(), environ...)
	said, err := build.CombinedOutput()
	require.NoError(t, err, string(said))
	up := e.start("up", repo, "--cluster", "none", "--plugin", "greeter="+program)
	up.await("the deployment", deployed("greeter-example", "SUCCESS"))
	history := e.pipedeck("deployments", "-o", "json").Stdout

	dev := e.start("plugin", "dev", "greeter="+repo)
	built := dev.await("the first build", func(e event) bool { return e.is("build", "state", "DONE") })
	first := dev.await("the stage", func(e event) bool { return e.is("rerun", "status", "SUCCESS") })
	require.Equal(t, built["build"], first["build"])
	replaceIn(t, filepath.Join(repo, "stage.go"), `req.Log.Infof("%s%s"`, `req.Log.Infof("Changed: %s%s"`)
	dev.await("the stage of the new program", func(e event) bool {
		return e.is("rerun", "status", "SUCCESS") && e["build"] != first["build"]
	})
	dev.await("its line", func(e event) bool {
		text, _ := e["text"].(string)
		return e.is("log", "stage_name", "GREETER") && strings.HasPrefix(text, "Changed: ")
	})
	dev.interrupt()
	dev.wait()
	require.Equal(t, history, e.pipedeck("deployments", "-o", "json").Stdout)

	// The environment has the program back, and takes it for the next re-run.
	connected := map[any]bool{} // by what names the process: a slow one may connect twice
	up.await("piped with the program from before", func(e event) bool {
		if e.is("component", "name", "piped", "state", "READY") {
			connected[e["detail"]] = true
		}
		return len(connected) == 3
	})
	r := e.pipedeck("plugin", "rerun", "greeter", "-o", "json")
	require.Equal(t, 0, r.Code, r.Stderr)
	require.Contains(t, r.Stdout, `"status":"SUCCESS"`)
	require.NotContains(t, r.Stdout, "Changed: ")
	require.Contains(t, e.pipedeck("plugin", "calls", "greeter").Stdout, "(re-run)")
}
