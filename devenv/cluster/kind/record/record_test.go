// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNamesAreShortAndDifferByPlace(t *testing.T) {
	t.Parallel()
	require.LessOrEqual(t, len(Name(strings.Repeat("e", 40), strings.Repeat("c", 20), "/a/b")), maxName)
	here, there := Name("demo", "prod", "/a"), Name("demo", "prod", "/b")
	require.True(t, strings.HasPrefix(here, "pipedeck-demo-prod-"))
	require.NotEqual(t, here, there)
	require.Equal(t, here, Name("demo", "prod", "/a"))
	require.NotContains(t, Name(strings.Repeat("e", 21)+"-rest", "local", "/a"), "--")
}

func TestARecordComesBackAsItWasWritten(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	none, err := Read(dir)
	require.NoError(t, err)
	require.Nil(t, none)
	require.False(t, Recorded(dir))
	written := &Record{
		State: StateReady, Cluster: "pipedeck-demo-1234", Engine: "podman",
		Nodes: []string{"pipedeck-demo-1234-control-plane"},
		Image: "node", NetworkBefore: "id", ExportedTo: "/home/config", ContextBefore: "mine",
	}
	require.NoError(t, written.Write(dir))
	read, err := Read(dir)
	require.NoError(t, err)
	require.Equal(t, written, read)
	require.True(t, Recorded(dir))
	info, err := os.Stat(file(dir))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestADamagedRecordLeadsToNoClusterOfOthers(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"it is too large":            strings.Repeat(" ", maxRecord+1),
		"unexpected end":             `{"state":`,
		"unknown state":              `{"state":"done","cluster":"pipedeck-a","engine":"docker"}`,
		`"kind" is no cluster`:       `{"state":"ready","cluster":"kind","engine":"docker"}`,
		`"pipedeck-a=b" is no`:       `{"state":"ready","cluster":"pipedeck-a=b","engine":"docker"}`,
		"unknown container engine":   `{"state":"ready","cluster":"pipedeck-a","engine":"/bin/sh"}`,
		`"other" is no node of ours`: `{"state":"ready","cluster":"pipedeck-a","engine":"docker","nodes":["other"]}`,
		"nodes are too many": `{"state":"ready","cluster":"pipedeck-a","engine":"docker","nodes":["` +
			strings.Repeat(`x","`, MaxNodes+1) + `"]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(file(dir), []byte(content), 0o600))
			_, err := Read(dir)
			var damaged *unusableError
			require.ErrorAs(t, err, &damaged)
			require.ErrorContains(t, err, name)
		})
	}
}

func FuzzDecodeRecord(f *testing.F) {
	f.Add([]byte(`{"state":"ready","cluster":"pipedeck-a","engine":"docker","nodes":["pipedeck-a-worker"]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decode("file", data)
		if err != nil {
			return
		}
		require.True(t, strings.HasPrefix(r.Cluster, namePrefix))
		for _, node := range r.Nodes {
			require.True(t, strings.HasPrefix(node, r.Cluster))
		}
	})
}
