// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/system/buildtest"
	"github.com/pipedeck/pipedeck/system/processtree"
)

// scriptRun builds the plugin of scripts, once.
var scriptRun = sync.OnceValues(func() (string, error) {
	path := filepath.Join(filepath.Dir(testPlugin), "scriptrun")
	return path, buildtest.Build(path, "github.com/pipedeck/pipedeck/plugins/scriptrun")
})

func scriptRunEntry(t *testing.T) config.Plugin {
	t.Helper()
	path, err := scriptRun()
	require.NoError(t, err)
	return config.Plugin{Name: "scriptrun", URL: "file://" + path}
}

// hearts are scripts that leave a process which writes its script's number and the time to $FILE on and on.
var hearts = map[string]string{
	"the script itself": `beat`,
	"another session":   `setsid sh -c "$BEAT" & wait`,
	"a double fork":     `(setsid nohup sh -c "$BEAT" >/dev/null 2>&1 &) ; sleep 600`,
	"a double fork, no SIGTERM": `(setsid sh -c "trap '' TERM HUP INT; $BEAT" >/dev/null 2>&1 &) ; trap '' TERM; ` +
		`while :; do sleep 1; done`,
}

// heart is the "with" of a stage whose heart beats into a file.
func heart(t *testing.T, script, file string) string {
	t.Helper()
	const beat = `while :; do echo "$ATTEMPT $(date +%s%N)" >> "$FILE"; sleep 0.01; done`
	data, err := json.Marshal(map[string]any{
		"run": "beat() { " + beat + "; }\nexport ATTEMPT=$$\n" + script,
		"env": map[string]string{"FILE": file, "BEAT": beat},
	})
	require.NoError(t, err)
	return string(data)
}

// beats are the times of the beats of each attempt, and the attempts in order.
func beats(t *testing.T, file string) (attempts []string, times map[string][]int64) {
	t.Helper()
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	require.NoError(t, err)
	times = map[string][]int64{}
	for line := range strings.Lines(string(data)) {
		attempt, at, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		nanoseconds, err := strconv.ParseInt(at, 10, 64)
		if !ok || err != nil {
			continue // half a line
		}
		if times[attempt] == nil {
			attempts = append(attempts, attempt)
		}
		times[attempt] = append(times[attempt], nanoseconds)
	}
	return attempts, times
}

// awaitBeats waits until a number of attempts have a few beats each.
func awaitBeats(t *testing.T, file string, attempts int) {
	t.Helper()
	require.Eventually(t, func() bool {
		found, times := beats(t, file)
		return len(found) >= attempts && len(times[found[attempts-1]]) > 2
	}, wait, 5*time.Millisecond)
}

// requireApart holds that no attempt beats after the first beat of the next one.
func requireApart(t *testing.T, file string) {
	t.Helper()
	attempts, times := beats(t, file)
	for i := range len(attempts) - 1 {
		last, next := times[attempts[i]], times[attempts[i+1]][0]
		require.Less(t, last[len(last)-1], next, "attempt %d beats at the same time as attempt %d", i+1, i+2)
	}
}

// requireStill holds that nothing beats any more: a beat that was under way is in the file by the second look.
func requireStill(t *testing.T, file string) {
	t.Helper()
	before, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Never(t, func() bool {
		now, err := os.ReadFile(file)
		return err != nil || len(now) != len(before)
	}, 100*time.Millisecond, 10*time.Millisecond)
}

// runStage executes a stage and returns a channel with its error.
func runStage(ctx context.Context, p *pluginhost.Plugin, with string) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- executeNamed(ctx, p, "SCRIPT_RUN", with) }()
	return ended
}

func TestAnAttemptDoesNotRunAlongsideWhatAKilledPluginHasLeft(t *testing.T) {
	t.Parallel()
	for name, script := range hearts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, registry, _ := service(t)
			file := filepath.Join(t.TempDir(), "beats")
			host := start(
				t, func(o *pluginhost.Options) { o.Service, o.ServiceAddress = server, server.Address() },
				scriptRunEntry(t),
			)
			p, err := host.Owner(t.Context(), "SCRIPT_RUN")
			require.NoError(t, err)
			defer registry.Add(stageDeployment("SCRIPT_RUN"))()

			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			for attempt := 1; attempt <= 3; attempt++ {
				ended := runStage(ctx, p, heart(t, script, file))
				awaitBeats(t, file, attempt)
				require.NoError(t, syscall.Kill(int(host.Status()[0].GetPid()), syscall.SIGKILL))
				var exit *pluginhost.ExitError
				require.ErrorAs(t, <-ended, &exit)
				requireStill(t, file)
				waiting, stop := context.WithTimeout(t.Context(), wait)
				require.NoError(t, p.WaitRunning(waiting))
				stop()
			}
			requireApart(t, file)
		})
	}
}

func TestAStoppedHostLeavesNoProcess(t *testing.T) {
	t.Parallel()
	for name, script := range hearts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, registry, _ := service(t)
			file := filepath.Join(t.TempDir(), "beats")
			host, err := pluginhost.New(pluginhost.Options{
				Plugins: []config.Plugin{scriptRunEntry(t)}, BinaryDir: t.TempDir(), Service: server,
				ServiceAddress: server.Address(), GracePeriod: time.Second,
			})
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stopped := make(chan error, 1)
			go func() { stopped <- host.Run(ctx) }()
			p, err := host.Owner(t.Context(), "SCRIPT_RUN")
			require.NoError(t, err)
			defer registry.Add(stageDeployment("SCRIPT_RUN"))()
			ended := runStage(t.Context(), p, heart(t, script, file))
			awaitBeats(t, file, 1)
			cancel()
			require.NoError(t, <-stopped)
			requireStill(t, file)
			<-ended
		})
	}
}

// piped is killed, and in half of the cases its plugin in the same moment: then nothing is left that could end the
// script but the next piped.
func TestTheNextHostEndsWhatAKilledOneHasLeft(t *testing.T) {
	t.Parallel()
	plugin := scriptRunEntry(t)
	for name, script := range hearts {
		for _, both := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", plugin killed too: ", both), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				file := filepath.Join(dir, "beats")
				settings, err := json.Marshal(map[string]string{
					"Plugin": strings.TrimPrefix(plugin.URL, "file://"), "Dir": dir, "With": heart(t, script, file),
				})
				require.NoError(t, err)
				earlier := exec.Command(os.Args[0])
				earlier.Env = append(os.Environ(), hostVariable+"="+string(settings))
				earlier.Stderr = os.Stderr
				require.NoError(t, earlier.Start())
				awaitBeats(t, file, 1)
				require.NoError(t, earlier.Process.Kill())
				if both {
					data, err := os.ReadFile(filepath.Join(dir, "plugin.pid"))
					require.NoError(t, err)
					pid, err := strconv.Atoi(string(data))
					require.NoError(t, err)
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
				_ = earlier.Wait()

				tree, err := processtree.Keep(filepath.Join(dir, "process-tree"))
				require.NoError(t, err)
				server, registry, _ := service(t)
				host := start(t, func(o *pluginhost.Options) {
					o.BinaryDir, o.ProcessTree, o.Service, o.ServiceAddress = filepath.Join(
						dir, "plugins",
					), tree, server, server.Address()
				}, plugin)
				p, err := host.Owner(t.Context(), "SCRIPT_RUN")
				require.NoError(t, err)
				await(t, host, inState(agentv1.Plugin_STATE_RUNNING))
				requireStill(t, file)
				defer registry.Add(stageDeployment("SCRIPT_RUN"))()
				ctx, cancel := context.WithCancel(t.Context())
				ended := runStage(ctx, p, heart(t, script, file))
				awaitBeats(t, file, 2)
				cancel()
				<-ended
				requireApart(t, file)
			})
		}
	}
}
