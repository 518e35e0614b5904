// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package guide

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/docs/page"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/sdktest"
)

// authors is the page that this story follows.
const authors = "docs/plugin-author-guide.md"

func TestThePluginOfTheGuideIsBuiltTestedAndDeploys(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	list := sections(t, func(name string) bool {
		return !slices.Contains([]string{inPython, forNode, otherLanguage}, name)
	})
	inBreakpoints := func(b page.Block) bool { return b.Section == breakpoints }
	from := slices.IndexFunc(list, inBreakpoints)
	to := from + slices.IndexFunc(list[from:], func(b page.Block) bool { return !inBreakpoints(b) })
	printed := r.follow(t, list[:from])
	t.Run(breakpoints, func(t *testing.T) {
		if os.Getenv("PIPEDECK_DLV") == "" {
			t.Skip("there is no debugger: PIPEDECK_DLV does not name the program dlv, as make e2e does")
		}
		r := *r
		r.variables = append(slices.Clone(r.variables), "GOFLAGS=") // those of make leave out what debuggers read
		// What the plugin imports is compiled before the environment is waited for.
		r.run(t, "go build -C ../greeter -gcflags='-N -l' -o greeter_debug .")
		r.follow(t, list[from:to])
	})
	maps.Copy(printed, r.follow(t, list[to:]))

	require.Contains(t, printed["go vet ./...\ngo test ./..."], "ok  \texample.com/greeter")
	deployed := printed["pipedeck ci --cluster none --plugin greeter=../greeter --timeout 3m"]
	for _, line := range []string{
		"Hello, Ada!", "Hello, Edsger!", "Everyone is greeted", "3 people were greeted: [Ada Grace Edsger]",
	} {
		require.Contains(t, deployed, line)
	}
	require.FileExists(t, filepath.Join(r.dir, "greeter_linux_amd64"))
	for command, says := range map[string][]string{
		"pipedeck plugin test .": {"GREET: SUCCESS after", " 0 failed"},
		"pipedeck plugin record": {"Welcome, Ada!", "same     reports of stage GREET\n",
			"same     reports of stage GREET_REPORT\n"},
		"git add . && git commit -q -m \"Roses\"": {"Deploy target west: done", "Roses\nare red\nRoses\nare red\n"},
	} {
		output := ""
		for script, said := range printed {
			if strings.Contains(script, command) {
				output = said
			}
		}
		for _, line := range says {
			require.Contains(t, output, line, command)
		}
	}

	// As PipeCD's piped starts it: all on the command line, over loopback.
	r.run(t, "go build -o greeter .")
	h := sdktest.StartProgram(t, filepath.Join(r.dir, "greeter"),
		sdktest.Options{Config: map[string]string{"greeting": "Welcome"}})
	require.Equal(t, sdk.StageSuccess, h.Execute(t, "GREET", `{"names": ["Ada"]}`))
	require.Equal(t, "Welcome, Ada!\nEveryone is greeted\n", h.Piped.Log("greet"))
}

// packSDK gives pipedeck the sources of the SDK, as make build does.
var packSDK = sync.OnceValue(func() error {
	command := exec.Command("go", "run", "./sdkarchive", "-root", "..", "-output",
		"../cmd/pipedeck/scaffold/archive/files/sdk.tar.gz")
	command.Dir, command.Env = filepath.Join("..", "..", "tools"), append(os.Environ(), "GOWORK=off")
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
})

// programs builds what a reader has in the PATH, once for all readers, and returns the directory.
var programs = sync.OnceValues(func() (string, error) {
	bin, err := os.MkdirTemp("", "guide-programs-")
	if err != nil {
		return "", err
	}
	if err := packSDK(); err != nil {
		return bin, err
	}
	for target, packages := range map[string][]string{
		"":        {"./cmd/pipedeck", "./cmd/pipedeck-more", "./cmd/piped"},
		"plugins": {"./plugins/wait", "./plugins/waitapproval", "./plugins/scriptrun"},
	} {
		command := exec.Command("go", append([]string{"build", "-o", filepath.Join(bin, target) + "/"}, packages...)...)
		command.Dir = filepath.Join("..", "..")
		if out, err := command.CombinedOutput(); err != nil {
			return bin, fmt.Errorf("%w: %s", err, out)
		}
	}
	return bin, nil
})

// builtPrograms is whether programs has been called.
var builtPrograms atomic.Bool

func TestMain(m *testing.M) {
	code := m.Run()
	if builtPrograms.Load() {
		bin, _ := programs()
		_ = os.RemoveAll(bin)
	}
	os.Exit(code)
}

// newReader returns a reader with the built programs in the PATH. What the module of a plugin needs, this module needs,
// too, so nothing is downloaded where that has been; sums are those of the cache.
func newReader(t *testing.T) *reader {
	t.Helper()
	clone, err := filepath.Abs("../..")
	require.NoError(t, err)
	builtPrograms.Store(true)
	bin, err := programs()
	require.NoError(t, err)
	if debugger := os.Getenv("PIPEDECK_DLV"); debugger != "" {
		bin += string(filepath.ListSeparator) + filepath.Dir(debugger)
	}
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	require.NoError(t, err)
	dir := t.TempDir()
	return &reader{dir: dir, cwd: filepath.Join(t.TempDir(), "cwd"), variables: []string{
		"PIPEDECK=" + clone,
		"PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"XDG_STATE_HOME=" + t.TempDir(),
		// Processes that wait for piped are found by their names there.
		"XDG_CACHE_HOME=" + t.TempDir(), "GOCACHE=" + strings.TrimSpace(string(cache)),
		"GOSUMDB=off", "GOWORK=off",
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Ada",
		"GIT_COMMITTER_EMAIL=ada@example.com",
	}}
}

// One environment runs a plugin of each kind. That a new plugin needs nothing but Go is tested in package e2e.
func TestNewPluginsAreBuiltTestedAndDeploy(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	r.variables = append(r.variables, "GOFLAGS=-trimpath") // so that the plugins share what is compiled
	given := ""
	for kind, stages := range map[string]string{
		"stage": "stage STAGE_PLUGIN", "deployment": "stages DEPLOYMENT_PLUGIN_SYNC and DEPLOYMENT_PLUGIN_ROLLBACK",
		"livestate":   "stages LIVESTATE_PLUGIN_SYNC and LIVESTATE_PLUGIN_ROLLBACK",
		"planpreview": "stages PLANPREVIEW_PLUGIN_SYNC and PLANPREVIEW_PLUGIN_ROLLBACK",
	} {
		name := kind + "-plugin"
		given += " --plugin " + name + "=" + name
		require.Contains(t, r.run(t, "pipedeck plugin new "+name+" --kind "+kind), "with the "+stages+" to ")
		r.run(t, "cd "+name+"\ngo vet ./...\ntest -z \"$(gofmt -l *.go)\"\ngo test ./...\ncd ..")
		require.Contains(t, r.run(t, "pipedeck plugin test "+name), "ends after SIGTERM")
		require.Contains(t, r.run(t, "pipedeck validate "+name+"/example --plugin "+name+"="+name),
			"checked 1 file: 0 errors, 0 warnings")
	}
	r.run(t, "mkdir applications\nfor p in *-plugin; do cp -r $p/example applications/$p; done\n"+
		"cd applications\ngit init -q -b main\ngit add .\ngit commit -q -m Begin\ncd ..")
	deployed := r.run(t, "pipedeck ci applications --cluster none --timeout 3m"+given)
	require.Contains(t, deployed, "> All 3 steps are done")
	require.Contains(t, deployed, "4 applications: 4 SUCCESS")
	require.FileExists(t, filepath.Join(r.dir, "deployment-plugin", "deployed", "page.txt"))
}
