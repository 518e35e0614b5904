// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/conformance"
	"github.com/pipedeck/pipedeck/plugins/sdk/conformance/mutants/fault"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
)

// mutants builds the program once; a name of it makes a mistake.
var mutants = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return "", err
	}
	built := exec.Command("go", "build", "-o", filepath.Join(dir, fault.Healthy), "./mutants")
	built.Env = append(os.Environ(), "CGO_ENABLED=0")
	built.Stderr = os.Stderr
	return dir, built.Run()
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := mutants(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// mutant is the path of the program with a mistake.
func mutant(t *testing.T, name string) string {
	t.Helper()
	dir, err := mutants()
	require.NoError(t, err)
	if name == fault.Healthy {
		return filepath.Join(dir, name)
	}
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.Symlink(filepath.Join(dir, fault.Healthy), path))
	return path
}

// options are those of a run against a mutant. What waits for something that never comes is given up sooner than it is
// for users.
func options(t *testing.T, name string, targets bool, only ...string) conformance.Options {
	t.Helper()
	settings := sdk.Settings{Name: name, URL: "file:///mutants"}
	settings.Config = json.RawMessage(`{"password": "configured-password"}`)
	if targets {
		settings.DeployTargets = []sdk.DeployTargetConfig{{Name: "east", Config: json.RawMessage(`{"zone": 1}`)}}
	}
	return conformance.Options{
		Program: mutant(t, name), Settings: settings, Only: only, With: `{"steps": 2, "word": "x"}`,
		Secrets: []string{"configured-password"}, RunLimit: 12 * time.Second,
		Bounds: conformance.Bounds{Start: 6 * time.Second, Answer: 5 * time.Second, Stop: 4 * time.Second},
	}
}

// deploying are the options for a plugin that brings a file of an application to two deploy targets.
func deploying(t *testing.T, name string, only ...string) conformance.Options {
	t.Helper()
	o := options(t, name, false, only...)
	dir := t.TempDir()
	for _, target := range []string{"east", "west"} {
		o.Settings.DeployTargets = append(o.Settings.DeployTargets, sdk.DeployTargetConfig{Name: target,
			Config: json.RawMessage(fmt.Sprintf(`{"path": %q}`, filepath.Join(dir, target)))})
	}
	app := filepath.Join(dir, "repository", "app")
	require.NoError(t, os.MkdirAll(app, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(app, "page.txt"), []byte("a page\n"), 0o600))
	config := []byte("spec:\n  name: demo # of page.txt\n")
	require.NoError(t, os.WriteFile(filepath.Join(app, "app.pipecd.yaml"), config, 0o600))
	o.Source = &common.DeploymentSource{ApplicationDirectory: app, CommitHash: "0123456789abcdef",
		ApplicationConfig: config, ApplicationConfigFilename: "app.pipecd.yaml",
		SharedConfigDirectory: filepath.Join(dir, "repository", ".pipe")}
	return o
}

func TestEachMistakeIsFoundByItsCase(t *testing.T) {
	t.Parallel()
	slots := make(chan struct{}, 8) // a run waits more than it works
	var running sync.WaitGroup
	for _, f := range fault.All() {
		o := options(t, f.Name, f.Targets, f.Case)
		o.With, o.RunLimit = cmp.Or(f.With, o.With), cmp.Or(f.RunLimit, o.RunLimit)
		if f.Deploys {
			o = deploying(t, f.Name, f.Case)
		}
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			results, err := conformance.Run(t.Context(), o)
			if err != nil {
				t.Errorf("%s: %v", f.Name, err)
				return
			}
			at := slices.IndexFunc(results, func(r conformance.Result) bool { return r.ID == f.Case })
			switch r := results[at]; {
			case r.State != conformance.Failed && !(f.Noted && r.State == conformance.Noted):
				t.Errorf("%s: %s has %s: %s", f.Name, f.Case, r.State, r.Detail)
			case !strings.Contains(r.Detail, f.Says):
				t.Errorf("%s: %s says %q, want %q", f.Name, f.Case, r.Detail, f.Says)
			}
		})
	}
	running.Wait()
}

func TestAPluginWithoutAMistakePasses(t *testing.T) {
	t.Parallel()
	for _, targets := range []bool{false, true} {
		o := options(t, fault.Healthy, targets)
		o.Bounds, o.RunLimit = conformance.Bounds{}, time.Minute
		results, err := conformance.Run(t.Context(), o)
		require.NoError(t, err)
		require.Len(t, results, len(conformance.Cases()))
		for _, r := range results {
			if r.State == conformance.Failed || r.State == conformance.Noted {
				t.Errorf("with targets %v, %s has %s: %s", targets, r.ID, r.State, r.Detail)
			}
		}
	}
}

func TestAPluginThatDeploysPasses(t *testing.T) {
	t.Parallel()
	o := deploying(t, fault.Deployer)
	o.Bounds = conformance.Bounds{}
	results, err := conformance.Run(t.Context(), o)
	require.NoError(t, err)
	for _, r := range results {
		if r.State == conformance.Failed ||
			strings.HasPrefix(r.ID, "deploy.") && r.State != conformance.Passed {
			t.Errorf("%s has %s: %s", r.ID, r.State, r.Detail)
		}
	}
}
