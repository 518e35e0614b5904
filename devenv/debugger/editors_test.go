// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package debugger

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
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

	written, err = WriteLaunchConfigurations(dir, "greeter", 2345)
	require.NoError(t, err)
	require.Empty(t, written, "nothing has changed")
}

func TestFilesOfEditorsGetThePortThatIsUsedAndKeepTheRest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// As an author leaves it: with comments, commas at ends, text like that of ours, and another plugin.
	const launch = `// "name": "pipedeck: greeter", "port": 1
{
  "version": "0.2.0", /* { */
  "configurations": [
    {"name": "pipedeck: other", "port": 2345},
    {"name": "A \"pipedeck: greeter\", {[", "port": 2345},
    {
      "port": 2345, // of the debugger
      "nested": {"port": 2345},
      "name": "pipedeck: greeter",
      "showLog": true,
    },
  ],
}
`
	const run = `<component name="ProjectRunConfigurationManager">
  <!-- port="2345" -->
  <configuration default="false" name="pipedeck: other" port="2345"></configuration>
  <configuration default="false" name="pipedeck: greeter" type="GoRemoteDebugConfigurationType" port='2345'>
    <option name="disconnectOption" value="LEAVE" port="2345" />
  </configuration>
</component>
`
	files := map[string][2]string{
		filepath.Join(dir, ".vscode", "launch.json"): {
			launch, strings.Replace(launch, `"port": 2345, // of`, `"port": 4000, // of`, 1)},
		filepath.Join(dir, ".run", "pipedeck greeter.run.xml"): {
			run, strings.Replace(run, `port='2345'`, `port='4000'`, 1)},
	}
	editors := map[string]*os.File{}
	for path, text := range files {
		require.NoError(t, create(path, []byte(text[0])))
		require.NoError(t, os.Chmod(path, 0o600))
		editor, err := os.Open(path)
		require.NoError(t, err)
		defer editor.Close()
		editors[path] = editor
	}
	written, err := WriteLaunchConfigurations(dir, "greeter", 4000)
	require.NoError(t, err)
	require.Len(t, written, 2)
	for path, text := range files {
		now, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, text[1], string(now))
		seen, err := io.ReadAll(editors[path])
		require.NoError(t, err)
		require.Equal(t, text[0], string(seen), "the file is replaced as a whole, it is never cut")
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode())
		entries, err := os.ReadDir(filepath.Dir(path))
		require.NoError(t, err)
		require.Len(t, entries, 1)
	}
}

func TestAFileOfAnEditorWithoutOurConfigurationStays(t *testing.T) {
	t.Parallel()
	for text, refused := range map[string]bool{
		`{}`:                             false,
		`{"configurations": []}`:         false,
		`{"configurations": [{"n": 1}]}`: false,
		`{"configurations": [{"name": "pipedeck: greeter"}]}`: false,
		``:                      true,
		`[]`:                    true,
		`{"configurations": [{`: true,
		`{"a": "`:               true,
		`{"a": "\\`:             true,
		`{"configurations": 1}`: false,
		`/* {}`:                 true,
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, ".vscode", "launch.json")
		require.NoError(t, create(path, []byte(text)))
		written, err := WriteLaunchConfigurations(dir, "greeter", 4000)
		require.Equal(t, refused, err != nil, "%s: %v", text, err)
		if text == "[]" {
			require.ErrorContains(t, err, "[ does not begin a JSON object")
		}
		require.NotContains(t, written, path, text)
		require.Len(t, written, 1, "GoLand gets its file")
		now, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, text, string(now))
	}
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
