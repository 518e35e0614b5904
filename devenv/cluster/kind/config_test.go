// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/kind/record"
)

func configured(t *testing.T, file, image string) (*v1alpha4.Cluster, error) {
	t.Helper()
	return New(Config{Environment: "demo", Cluster: "local", Dir: t.TempDir(), File: file,
		NodeImage: image}).configuration()
}

func TestWithoutAFileThereIsOneNodeOfKindsImageOnLoopback(t *testing.T) {
	t.Parallel()
	c, err := configured(t, "", "")
	require.NoError(t, err)
	require.Equal(t, []v1alpha4.Node{{Role: v1alpha4.ControlPlaneRole, Image: defaultNodeImage}}, c.Nodes)
	require.Equal(t, loopback, c.Networking.APIServerAddress)
	require.True(t, strings.HasPrefix(c.Name, "pipedeck-demo-"), c.Name)
}

func TestTheFileIsMergedAndPortsStayOnThisMachineUnlessItSaysOtherwise(t *testing.T) {
	t.Parallel()
	c, err := configured(t, "testdata/good.yaml", "")
	require.NoError(t, err)
	require.Equal(t, "10.244.0.0/16", c.Networking.PodSubnet)
	require.Equal(t, loopback, c.Nodes[0].ExtraPortMappings[0].ListenAddress)
	require.Equal(t, "0.0.0.0", c.Nodes[0].ExtraPortMappings[1].ListenAddress)
	require.Equal(t, []string{defaultNodeImage, "example.com/node:v1"}, nodeImages(c))
	require.Equal(t, []string{
		c.Name + "-control-plane", c.Name + "-control-plane2", c.Name + "-worker", c.Name + "-worker2",
		c.Name + "-external-load-balancer",
	}, nodeNames(c))
}

func TestContradictionsAreReportedAtOnceWithTheirLine(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		file, image string
		want        []string
	}{
		"name, address and image": {"testdata/conflicts.yaml", "example.com/other:v1", []string{
			"testdata/conflicts.yaml:3: pipedeck names the cluster itself; remove name",
			"testdata/conflicts.yaml:5: networking.apiServerAddress must stay on this machine, for example 127.0.0.1",
			"testdata/conflicts.yaml:9: the image example.com/node:v1 contradicts --node-image " +
				"example.com/other:v1; remove one of them",
		}},
		"unknown keys": {"testdata/unknown.yaml", "", []string{
			"testdata/unknown.yaml:4: field rol not found in type v1alpha4.Node",
			"testdata/unknown.yaml:5: field networkin not found in type v1alpha4.Cluster",
		}},
		"another kind of file": {"testdata/other.yaml", "", []string{
			"testdata/other.yaml:2: apiVersion must be kind.x-k8s.io/v1alpha4 and kind Cluster",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := configured(t, test.file, test.image)
			var hint *cluster.HintError
			require.ErrorAs(t, err, &hint)
			require.Equal(t, strings.Join(test.want, "\n"), err.Error())
		})
	}
}

func TestAFileThatCannotBeOneIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"is larger than":         strings.Repeat("#", maxConfig+1),
		"more than one document": "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\n---\nkind: Cluster\n",
		"are too many": "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nnodes:\n" +
			strings.Repeat("- {}\n", record.MaxNodes+1),
		"yaml":     "\t",
		"is empty": "# nothing yet\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
			require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
			_, err := configured(t, file, "")
			require.ErrorContains(t, err, name)
		})
	}
	_, err := configured(t, filepath.Join(dir, "missing"), "")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func FuzzDecodeConfig(f *testing.F) {
	for _, file := range []string{"good", "conflicts", "unknown", "other"} {
		content, err := os.ReadFile("testdata/" + file + ".yaml")
		require.NoError(f, err)
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		wanted, err := decodeConfig("file", content, "")
		if err != nil {
			return
		}
		require.Empty(t, wanted.Name)
		require.LessOrEqual(t, len(wanted.Nodes), record.MaxNodes)
	})
}
