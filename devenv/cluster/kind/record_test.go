// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNamesAreShortAndDifferByPlace(t *testing.T) {
	t.Parallel()
	long := Config{Environment: strings.Repeat("e", 40), Cluster: strings.Repeat("c", 20), Dir: "/a/b"}
	require.LessOrEqual(t, len(clusterName(long)), maxName)
	here, there := Config{Environment: "demo", Cluster: "prod", Dir: "/a"},
		Config{Environment: "demo", Cluster: "prod", Dir: "/b"}
	require.True(t, strings.HasPrefix(clusterName(here), "pipedeck-demo-prod-"))
	require.NotEqual(t, clusterName(here), clusterName(there))
	require.Equal(t, clusterName(here), clusterName(here))
	cut := Config{Environment: strings.Repeat("e", 21) + "-rest", Cluster: "local", Dir: "/a"}
	require.NotContains(t, clusterName(cut), "--")
}

func TestARecordComesBackAsItWasWritten(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	none, err := readRecord(dir)
	require.NoError(t, err)
	require.Nil(t, none)
	require.False(t, Recorded(dir))
	written := &record{
		State: stateReady, Cluster: "pipedeck-demo-1234", Engine: "podman",
		Nodes: []string{"pipedeck-demo-1234-control-plane"},
		Image: "node", NetworkBefore: "id", ExportedTo: "/home/config", ContextBefore: "mine",
	}
	require.NoError(t, written.write(dir))
	read, err := readRecord(dir)
	require.NoError(t, err)
	require.Equal(t, written, read)
	require.True(t, Recorded(dir))
	info, err := os.Stat(recordFile(dir))
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
			strings.Repeat(`x","`, maxNodes+1) + `"]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(recordFile(dir), []byte(content), 0o600))
			_, err := readRecord(dir)
			var damaged *recordError
			require.ErrorAs(t, err, &damaged)
			require.ErrorContains(t, err, name)
			require.Error(t, New(Config{Dir: dir, Kubeconfig: filepath.Join(dir, "kubeconfig")}).Delete(t.Context()))
			require.FileExists(t, recordFile(dir), "what cannot be read stays for its user")
		})
	}
}

func FuzzDecodeRecord(f *testing.F) {
	f.Add([]byte(`{"state":"ready","cluster":"pipedeck-a","engine":"docker","nodes":["pipedeck-a-worker"]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decodeRecord("file", data)
		if err != nil {
			return
		}
		require.True(t, strings.HasPrefix(r.Cluster, namePrefix))
		for _, node := range r.Nodes {
			require.True(t, strings.HasPrefix(node, r.Cluster))
		}
	})
}
