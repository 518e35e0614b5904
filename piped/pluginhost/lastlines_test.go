// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/system/buildtest"
)

// dyingPlugin builds a plugin of the SDK that dies after it has written to the log of its stage, once.
var dyingPlugin = sync.OnceValues(func() (string, error) {
	path := filepath.Join(filepath.Dir(testPlugin), "dying")
	return path, buildtest.Build(path, "github.com/pipedeck/pipedeck/plugins/sdk/internal/dyingplugin")
})

func startDying(t *testing.T) (*pluginhost.Plugin, *logs) {
	t.Helper()
	p, _, controlPlane := startDyingIn(t)
	return p, controlPlane
}

func startDyingIn(t *testing.T) (*pluginhost.Plugin, *pluginhost.Host, *logs) {
	t.Helper()
	path, err := dyingPlugin()
	require.NoError(t, err)
	server, registry, controlPlane := service(t)
	host := start(t, func(o *pluginhost.Options) { o.Service, o.ServiceAddress = server, server.Address() },
		config.Plugin{Name: "dying", URL: "file://" + path})
	p, err := host.Owner(t.Context(), "DIE")
	require.NoError(t, err)
	t.Cleanup(registry.Add(stageDeployment("DIE")))
	return p, host, controlPlane
}

func TestWhatAStageWroteBeforeItsPluginDiedArrives(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"exit", "panic", "kill"} {
		for _, lines := range []int{6, 200_000} {
			t.Run(fmt.Sprint(how, " after ", lines), func(t *testing.T) {
				t.Parallel()
				p, controlPlane := startDying(t)
				err := executeNamed(t.Context(), p, "DIE", fmt.Sprintf(`{"lines": %d, "how": %q}`, lines, how))
				var exit *pluginhost.ExitError
				require.ErrorAs(t, err, &exit)
				var want strings.Builder
				for i := range lines {
					fmt.Fprintf(&want, "entry %d\n", i+1)
				}
				text := controlPlane.text()
				for strings.Contains(text, "\n\n") {
					text = strings.ReplaceAll(text, "\n\n", "\n") // blocks of whole lines
				}
				require.Equal(
					t, want.String()+"a whole line\n[east] replaced, not repeated\nhalf a line\n[east] unfinished\n",
					text,
				)
				require.Zero(
					t, controlPlane.completed,
					"the scheduler adds how the plugin died, which a complete log does not take",
				)
			})
		}
	}
}

func TestTheLogOfAStageThatEndsByItselfIsReportedOnce(t *testing.T) {
	t.Parallel()
	p, controlPlane := startDying(t)
	require.NoError(t, executeNamed(t.Context(), p, "DIE", `{"lines": 5000}`))
	require.Equal(t, 1, controlPlane.completed)
	require.Equal(t, 5000, strings.Count(controlPlane.text(), "entry "))
}

func TestEntriesThatFoundNoRoomWhenAPluginDiedAreCounted(t *testing.T) {
	t.Parallel()
	p, host, controlPlane := startDyingIn(t)
	pid := int(host.Status()[0].GetPid())
	controlPlane.refuse(func() error {
		if syscall.Kill(pid, 0) == nil {
			return status.Error(codes.Unavailable, "it is away while the plugin lives")
		}
		return nil
	})
	const lines = 500_000 // more than the memory holds, with less text than the plugin queues
	var exit *pluginhost.ExitError
	err := executeNamed(t.Context(), p, "DIE", fmt.Sprintf(`{"lines": %d, "text": "x", "how": "exit"}`, lines))
	require.ErrorAs(t, err, &exit)
	text := controlPlane.text()
	found := regexp.MustCompile(`(?m)^Entries of this log are missing: (\d+)\.`).FindStringSubmatch(text)
	require.NotNil(t, found)
	missing, err := strconv.Atoi(found[1])
	require.NoError(t, err)
	kept := len(regexp.MustCompile(`(?m)^x$`).FindAllString(text, -1))
	require.Positive(t, kept)
	require.Less(t, kept, lines)
	const ended = 2 // lines that the plugin writes after them
	require.Equal(t, lines+ended, kept+strings.Count(text, "a whole line")+strings.Count(text, "replaced")+missing)
}
