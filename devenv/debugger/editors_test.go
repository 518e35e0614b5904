// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package debugger

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEditorsGetTheAddressOfTheDebugger(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	written, err := WriteLaunchConfigurations(dir, "greeter", 2345)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{
		filepath.Join(dir, ".vscode", "launch.json"), filepath.Join(dir, ".run", "pipedeck greeter.run.xml"),
	}, written)
	text, err := os.ReadFile(filepath.Join(dir, ".vscode", "launch.json"))
	require.NoError(t, err)
	var launch struct {
		Configurations []struct {
			Mode, Host, Request string
			Port                int
			Args                []string
		} `json:"configurations"`
	}
	require.NoError(t, json.Unmarshal(text, &launch))
	require.Equal(t, "remote", launch.Configurations[0].Mode)
	require.Equal(t, 2345, launch.Configurations[0].Port)
	require.Equal(t, "launch", launch.Configurations[1].Request)
	require.Equal(t, []string{"reattach", "-name", "greeter"}, launch.Configurations[1].Args)
	run, err := os.ReadFile(filepath.Join(dir, ".run", "pipedeck greeter.run.xml"))
	require.NoError(t, err)
	require.Contains(t, string(run), `port="2345"`)

	written, err = WriteLaunchConfigurations(dir, "greeter", 4000)
	require.NoError(t, err)
	require.Empty(t, written, "what an author may have changed stays")
}

func TestAPlaceIsNamedAsInTheEditor(t *testing.T) {
	t.Parallel()
	at := place{file: "/src/greeter/inner/stage.go", line: 57, function: "example.com/greeter/inner.(*plugin).step"}
	require.Equal(t, "inner/stage.go:57 (inner.(*plugin).step)", at.relative("/src/greeter"))
	require.Equal(t, "stage.go:57 (inner.(*plugin).step)", at.relative(""))
	require.Equal(t, "stage.go:57 (inner.(*plugin).step)", at.relative("/elsewhere"))
	require.Equal(t, "a pause", place{file: "x.s", function: "runtime.futex"}.relative("/src"))
	require.Empty(t, place{running: true}.relative("/src"))
}
