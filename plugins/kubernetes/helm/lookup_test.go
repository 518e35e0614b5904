// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/helm"
	"github.com/pipedeck/pipedeck/system/filetest"
)

// fakeCluster has these objects, by questions.
type fakeCluster struct {
	able    helm.Capabilities
	objects map[helm.Question]string
	err     error
	asked   []helm.Question
}

func (c *fakeCluster) Capabilities(context.Context) (*helm.Capabilities, error) {
	return &c.able, c.err
}

func (c *fakeCluster) Lookup(_ context.Context, q helm.Question) ([]byte, error) {
	c.asked = append(c.asked, q)
	if q.Name == "broken" {
		return nil, errors.New("the API answers 500: no leader")
	}
	return []byte(c.objects[q]), nil
}

// seesCluster is a request for the chart keeper.
func seesCluster(t *testing.T, c helm.Cluster) helm.Request {
	t.Helper()
	root := application(t)
	require.NoError(t, os.CopyFS(filepath.Join(root, "charts", "keeper"),
		os.DirFS(filepath.Join("testdata", "keeper"))))
	req := request(t, root)
	req.Path, req.Namespace, req.Cluster = "../charts/keeper", "", c
	return req
}

// both renders in this process and in a child.
func both(t *testing.T, test func(t *testing.T, c *helm.Charts)) {
	t.Helper()
	for name, sources := range map[string]helm.Sources{"in this process": {CacheDir: filepath.Join(t.TempDir(), "c")},
		"in a child": {CacheDir: filepath.Join(t.TempDir(), "c"), Children: children(t, helm.Limits{})}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, helm.New(sources))
		})
	}
}

func text(r *helm.Rendered) string {
	var all strings.Builder
	for _, f := range r.Files {
		all.Write(f.Data)
	}
	return all.String()
}

func TestAChartSeesTheCluster(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, c *helm.Charts) {
		cluster := &fakeCluster{
			able: helm.Capabilities{KubeVersion: "v1.31.4+k3s1", Namespace: "team",
				APIVersions: []string{"v1", "monitoring.coreos.com/v1", "monitoring.coreos.com/v1/ServiceMonitor"}},
			objects: map[helm.Question]string{
				{APIVersion: "v1", Kind: "Secret", Namespace: "team", Name: "shop-password"}: `{"data":{"password":` +
					`"a2VwdA=="},"metadata":{"generation":12345678901}}`,
				{APIVersion: "v1", Kind: "ConfigMap", Namespace: "team"}: `{"items":[{"metadata":{"name":"a"}},` +
					`{"metadata":{"name":"b"}}]}`,
			},
		}
		got, err := c.Render(t.Context(), seesCluster(t, cluster))
		require.NoError(t, err)
		out := text(got)
		require.Contains(t, out, "password: a2VwdA==")
		require.Contains(t, out, `kube: "v1.31.4+k3s1 31"`)
		require.Contains(t, out, `generation: "12345678901"`)
		require.Contains(t, out, `maps: "a b"`)
		require.Contains(t, out, "kind: ServiceMonitor")
		require.Contains(t, out, "namespace: team")
		require.False(t, got.Fixed, "another look may find something else")
		require.Len(t, cluster.asked, 3)

		req := seesCluster(t, cluster)
		req.Options = helm.Options{KubeVersion: "1.29.0", APIVersions: []string{"shop/v1"}}
		got, err = c.Render(t.Context(), req)
		require.NoError(t, err)
		require.Contains(t, text(got), `kube: "v1.29.0 29"`, "the application says another")
		require.Contains(t, text(got), "kind: Shop")
		require.Contains(t, text(got), "kind: ServiceMonitor")
	})
}

func TestWithoutAClusterNothingIsFound(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, c *helm.Charts) {
		got, err := c.Render(t.Context(), seesCluster(t, nil))
		require.NoError(t, err)
		require.Contains(t, text(got), `maps: ""`)
		require.Contains(t, text(got), "namespace: default")
		require.NotContains(t, text(got), "kind: ServiceMonitor")
	})
}

func TestLookupsHaveBoundsAndTheirErrorsAPlace(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, c *helm.Charts) {
		large := `{"data":{"a":"` + strings.Repeat("x", 3<<20) + `"}}`
		cluster := &fakeCluster{able: helm.Capabilities{KubeVersion: "1.31.0"}, objects: map[helm.Question]string{
			{APIVersion: "v1", Kind: "Secret", Namespace: "a", Name: "large"}: large}}
		for template, want := range map[string]string{
			`{{ range until 201 }}{{ lookup "v1" "Secret" "a" "b" }}{{ end }}`: "look up Secret a/b: a chart may " +
				"look up 200 times, and asks for more",
			`{{ range until 3 }}{{ lookup "v1" "Secret" "a" "large" | len }}{{ end }}`: "look up Secret a/large: " +
				"a chart may look up 8 MiB, and asks for more",
			"a: b\n{{ lookup \"v1\" \"Secret\" \"a\" \"broken\" }}": "look up Secret a/broken: the API answers 500: " +
				"no leader",
		} {
			req := seesCluster(t, cluster)
			filetest.Write(t, req.Tree.Root(), map[string]string{"charts/keeper/templates/more.yaml": template})
			_, err := c.Render(t.Context(), req)
			require.ErrorContains(t, err, want)
			require.ErrorContains(t, err, "chart keeper 1.0.0: ../charts/keeper/templates/more.yaml:")
		}
	})
}

func TestAnErrorInTheFirstLineHasItsColumn(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, c *helm.Charts) {
		req := seesCluster(t, nil)
		filetest.Write(t, req.Tree.Root(),
			map[string]string{"charts/keeper/templates/more.yaml": `abc {{ .Values.a.b }}`})
		_, err := c.Render(t.Context(), req)
		require.ErrorContains(t, err, "../charts/keeper/templates/more.yaml:1:14: at <.Values.a.b>")
	})
}
