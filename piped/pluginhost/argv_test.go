// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
)

const recordings = "../../api/testdata/recordings/"

// Plugins that know nothing of links get the very command lines that PipeCD's piped gave to PipeCD's plugins, apart
// from the place of the program and the port, from the configuration that it has reported.
func TestCommandLinesAreThoseOfPipeCDsPiped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "plugin")
	script := "#!/bin/sh\nfor argument; do printf '%s\\n' \"$argument\"; done > \"$0.tmp\"\nmv \"$0.tmp\" " +
		"\"$0.argv\"\nexec sleep 600\n"
	require.NoError(t, os.WriteFile(program, []byte(script), 0o700))
	recorded := recordedCommandLines(t)
	for _, p := range recordedPlugins(t) {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			url := p.URL
			p.URL, p.Port = "file://"+program, 0
			binaries := t.TempDir()
			host, err := pluginhost.New(pluginhost.Options{
				Plugins: []config.Plugin{p}, BinaryDir: binaries, ServiceAddress: "localhost:48087",
				StartTimeout: time.Minute, GracePeriod: time.Second,
			})
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan error, 1)
			go func() { done <- host.Run(ctx) }()
			defer func() {
				cancel()
				require.NoError(t, <-done)
			}()
			var got []string
			require.Eventually(t, func() bool {
				files, err := filepath.Glob(filepath.Join(binaries, "*.argv"))
				if err != nil || len(files) == 0 {
					return false
				}
				data, err := os.ReadFile(files[0])
				got = strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
				return err == nil
			}, time.Minute, time.Millisecond)
			port := regexp.MustCompile(`"port":\d+`)
			for i := range got {
				got[i] = port.ReplaceAllString(strings.Replace(got[i], "file://"+program, url, 1), `"port":1`)
			}
			want := recorded[p.Name]
			for i := range want {
				want[i] = port.ReplaceAllString(want[i], `"port":1`)
			}
			require.Equal(t, want, got)
		})
	}
}

// recordedCommandLines are the arguments by plugin.
func recordedCommandLines(t *testing.T) map[string][]string {
	t.Helper()
	lines := map[string][]string{}
	readLines(t, "plugin-argv.jsonl", func(data []byte) {
		var line struct {
			Plugin string
			Argv   []string
		}
		require.NoError(t, json.Unmarshal(data, &line))
		lines[line.Plugin] = line.Argv
	})
	require.Len(t, lines, 5)
	return lines
}

// recordedPlugins are those of the configuration that PipeCD's piped has reported.
func recordedPlugins(t *testing.T) []config.Plugin {
	t.Helper()
	meta := &pipedservice.ReportPipedMetaRequest{}
	readLines(t, "a0-start-up.jsonl", func(data []byte) {
		var line struct {
			Method string
			Req    []byte
		}
		require.NoError(t, json.Unmarshal(data, &line))
		if strings.HasSuffix(line.Method, "/ReportPipedMeta") {
			require.NoError(t, proto.Unmarshal(line.Req, meta))
		}
	})
	var spec map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(meta.GetConfig()), &spec))
	spec["pipedKeyData"] = "a2V5" // it was masked
	data, err := json.Marshal(map[string]any{"apiVersion": "pipecd.dev/v1beta1", "kind": "Piped", "spec": spec})
	require.NoError(t, err)
	piped, err := config.ParsePiped(data, "piped.yaml")
	require.NoError(t, err)
	require.Len(t, piped.Plugins, 5)
	return piped.Plugins
}

func readLines(t *testing.T, name string, each func([]byte)) {
	t.Helper()
	file, err := os.Open(recordings + name)
	require.NoError(t, err)
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		each(lines.Bytes())
	}
	require.NoError(t, lines.Err())
}
