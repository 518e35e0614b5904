// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/helm"
	"github.com/pipedeck/pipedeck/system/filetest"
)

// The program of the tests renders charts as the plugins do: in separate processes.
func TestMain(m *testing.M) {
	helm.ServeIfChild()
	os.Exit(m.Run())
}

func children(t testing.TB, limits helm.Limits) *helm.Children {
	t.Helper()
	c := helm.NewChildren(limits)
	t.Cleanup(c.Close)
	return c
}

// hungry renders a chart with one template.
func hungry(ctx context.Context, t *testing.T, c *helm.Charts, template string) (*helm.Rendered, error) {
	t.Helper()
	root := application(t)
	filetest.Write(t, root, map[string]string{"charts/web/templates/hungry.yaml": template})
	return c.Render(ctx, request(t, root))
}

func TestAChartHasLimits(t *testing.T) {
	t.Parallel()
	const plenty = `{{ range untilStep 0 100000 1 }}{{ repeat 1000000 "x" }}{{ end }}`
	tests := map[string]struct {
		limits         helm.Limits
		template, want string
	}{
		"memory that grows": {helm.Limits{MemoryBytes: 128 << 20}, plenty,
			"charts/web/templates/hungry.yaml: this template needed more than 128 MiB of memory, the limit"},
		"memory at once": {helm.Limits{MemoryBytes: 128 << 20}, `{{ len (repeat 3000000000 "x") }}`,
			"charts/web/templates/hungry.yaml: this template needed more than 128 MiB of memory, the limit"},
		"13 GB by default": {helm.Limits{}, `{{ $x := "" }}{{ range until 13 }}` +
			`{{ $x = print $x (repeat 1000000000 "x") }}{{ end }}`,
			"hungry.yaml: this template needed more than 512 MiB of memory, the limit"},
		"output of ranges in ranges by default": {helm.Limits{}, `{{ range until 100000 }}{{ range until 100000 }}` +
			`{{ repeat 10000 "x" }}{{ end }}{{ end }}`,
			"hungry.yaml: this template needed more than 512 MiB of memory, the limit"},
		"output": {helm.Limits{}, `a: {{ repeat 17825792 "x" }}`, "make 17 MiB, more than the 16 MiB"},
		"time": {helm.Limits{Timeout: 4 * time.Second},
			`{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}`,
			"hungry.yaml: this template took longer than 4s, the limit"},
		"time in a template that another one includes": {helm.Limits{Timeout: 4 * time.Second},
			`{{ define "forever" }}{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}{{ end }}` +
				`{{ include (print $.Template.BasePath "/config.yaml") . | len }}{{ include "forever" . }}`,
			"hungry.yaml: this template took longer than 4s, the limit"},

		"templates in templates": {helm.Limits{MemoryBytes: 128 << 20},
			`{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}`, "chart web"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := charts(t, helm.Sources{Children: children(t, tt.limits)})
			begun := time.Now()
			_, err := hungry(t.Context(), t, c, tt.template)
			require.ErrorContains(t, err, tt.want)
			require.NotContains(t, err.Error(), "\n")
			require.ErrorContains(t, err, "chart web 1.2.3")
			t.Logf("after %s: %v", time.Since(begun), err)
			_, err = c.Render(t.Context(), request(t, application(t)))
			require.NoError(t, err, "the next chart is rendered")
		})
	}
}

func TestACancelEndsATemplate(t *testing.T) {
	t.Parallel()
	own := helm.NewChildren(helm.Limits{})
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	ended := make(chan error, 1)
	c := charts(t, helm.Sources{Children: own})
	go func() {
		_, err := hungry(ctx, t, c, `{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}`)
		ended <- err
	}()
	cancel(enough)
	require.ErrorIs(t, <-ended, enough)
	own.Close() // waits for the process
	_, err := c.Render(t.Context(), request(t, application(t)))
	require.ErrorContains(t, err, "the plugin is stopping")
}

func TestCloseEndsWhatRenders(t *testing.T) {
	t.Parallel()
	own := helm.NewChildren(helm.Limits{})
	c := charts(t, helm.Sources{Children: own})
	_, err := c.Render(t.Context(), request(t, application(t)))
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() {
		_, err := hungry(t.Context(), t, c, `{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}`)
		ended <- err
	}()
	for {
		own.Close()
		select {
		case err := <-ended:
			require.Error(t, err)
			return
		default:
		}
	}
}

func TestASeparateProcessRendersTheSame(t *testing.T) {
	t.Parallel()
	root := application(t)
	filetest.Write(t, root, map[string]string{
		"charts/web/templates/kinds.yaml": `{{- range $k, $v := .Values.kinds }}
{{ $k }}: {{ kindOf $v }} {{ typeOf $v }} {{ toJson $v }} {{ $v }}
{{- end }}
release: {{ toJson .Release }}
capabilities: {{ .Capabilities.KubeVersion.Version }} {{ .Capabilities.KubeVersion.Minor }} {{ ` +
			`.Capabilities.APIVersions.Has "shop/v1" }} {{ toJson .Capabilities.HelmVersion }}
chart: {{ toJson .Chart }}
values: {{ typeOf .Values }} {{ toJson .Values.AsMap }}
file: {{ .Files.Get "motd.txt" }} {{ toYaml .Subcharts | len }} {{ .Template.BasePath }}
`,
		"charts/web/motd.txt": "hello \xff",
		"app/more.yaml": "kinds: {none: null, whole: 1000000, large: 123456789012, part: 1.5, yes: true, " +
			"text: 'x', list: [1, {a: null}], empty: {}, nothing: []}\n",
		"app/blob": "\xfe\xff",
	})
	req := request(t, root)
	req.Options = helm.Options{
		ValueFiles: []string{"more.yaml"}, SetValues: map[string]string{"kinds.set": "1000000", "kinds.gone": "null"},
		SetFiles: map[string]string{"kinds.blob": "blob"}, APIVersions: []string{"shop/v1"}, KubeVersion: "1.30.2",
	}
	here, err := helm.New(helm.Sources{CacheDir: filepath.Join(t.TempDir(), "c")}).Render(t.Context(), req)
	require.NoError(t, err)
	there, err := charts(t, helm.Sources{}).Render(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, here, there)
}

func BenchmarkRender(b *testing.B) {
	for name, own := range map[string]*helm.Children{"in this process": nil, "in a child": children(b, helm.Limits{})} {
		b.Run(name, func(b *testing.B) {
			root := b.TempDir()
			require.NoError(b, os.CopyFS(filepath.Join(root, "charts", "web"),
				os.DirFS(filepath.Join("testdata", "web"))))
			c := helm.New(helm.Sources{CacheDir: filepath.Join(b.TempDir(), "c"), Children: own})
			for b.Loop() {
				_, err := c.Render(b.Context(), request(b, root))
				require.NoError(b, err)
			}
		})
	}
}
