// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/filetest"
)

// sorts are the same application made in three ways; change is a file that is not in the application's directory or not
// named by it.
func sorts() map[string]struct {
	files  map[string]string
	req    Request
	change string
} {
	const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: decrypted}\n"
	return map[string]struct {
		files  map[string]string
		req    Request
		change string
	}{
		"files": {map[string]string{"app/a.yaml": secret}, Request{}, "app/a.yaml"},
		"kustomize": {map[string]string{
			"app/kustomization.yaml":  "resources: [../base]\n",
			"base/kustomization.yaml": "secretGenerator: [{name: s, files: [password]}]\n",
			"base/password":           "decrypted",
		}, Request{}, "base/password"},
		"chart": {map[string]string{
			"web/Chart.yaml":       "{apiVersion: v2, name: web, version: 1.0.0}",
			"web/templates/a.yaml": strings.ReplaceAll(secret, "decrypted", "{{ .Values.password }}"),
			"app/values.yaml":      "password: decrypted\n",
		}, Request{Chart: &Chart{Path: "../web", Release: "shop"}}, "app/values.yaml"},
	}
}

func TestWhatWasLoadedIsNotLoadedAgainUnlessAFileDiffers(t *testing.T) {
	t.Parallel()
	for name, tt := range sorts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loader := NewLoader()
			req := tt.req
			if req.Chart != nil {
				req.Chart.Options.ValueFiles = []string{"values.yaml"}
			}
			at := func(root string) Request {
				filetest.Write(t, root, tt.files)
				r := req
				r.Root, r.Dir = root, filepath.Join(root, "app")
				return r
			}
			first, err := loader.Load(t.Context(), at(t.TempDir()))
			require.NoError(t, err)
			require.Len(t, loader.cache.entries, 1)
			size := loader.cache.size
			require.Positive(t, size)

			// Another checkout of the same content, as every stage gets one.
			second := at(t.TempDir())
			_, known := loader.cache.get(second.key(nil), second.Root)
			require.True(t, known)
			again, err := loader.Load(t.Context(), second)
			require.NoError(t, err)
			require.Equal(t, first[0].Object, again[0].Object)
			require.Equal(t, size, loader.cache.size, "nothing was added")
			again[0].SetName("changed")
			again, err = loader.Load(t.Context(), second)
			require.NoError(t, err)
			require.NotEqual(t, "changed", again[0].GetName(), "what is given belongs to who asked")

			changed := at(t.TempDir())
			path := filepath.Join(changed.Root, tt.change)
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(string(data), "decrypted", "ciphertext")),
				0o600))
			other, err := loader.Load(t.Context(), changed)
			require.NoError(t, err)
			require.NotEqual(t, first[0].Object, other[0].Object, "the same commit with another secret")

			inOther := second
			inOther.Namespace = "prod"
			prod, err := loader.Load(t.Context(), inOther)
			require.NoError(t, err)
			require.Equal(t, "prod", prod[0].GetNamespace())
			require.Len(t, loader.cache.entries, 2)
		})
	}
}

func TestAFileThatIsAddedIsSeen(t *testing.T) {
	t.Parallel()
	loader := NewLoader()
	dir := filetest.Write(t, t.TempDir(), map[string]string{"a.yaml": "apiVersion: v1\nkind: ConfigMap\n" +
		"metadata: {name: a}\n"})
	one, err := loader.Load(t.Context(), Request{Dir: dir})
	require.NoError(t, err)
	require.Len(t, one, 1)
	filetest.Write(t, dir, map[string]string{"b.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n"})
	two, err := loader.Load(t.Context(), Request{Dir: dir})
	require.NoError(t, err)
	require.Len(t, two, 2)
	filetest.Write(t, dir, map[string]string{"kustomization.yaml": "resources: [b.yaml]\n"})
	kustomized, err := loader.Load(t.Context(), Request{Dir: dir})
	require.NoError(t, err)
	require.Len(t, kustomized, 1)
}

func TestTheCacheHasABoundInBytes(t *testing.T) {
	t.Parallel()
	text := func(i int) map[string]string {
		return map[string]string{"a.yaml": fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\n"+
			"metadata: {name: a%d}\ndata: {text: %s}\n", i, strings.Repeat("x", 1000))}
	}
	loader := NewLoader()
	load := func(i int, namespace string) Request {
		req := Request{Dir: filetest.Write(t, t.TempDir(), text(i)), Namespace: namespace}
		_, err := loader.Load(t.Context(), req)
		require.NoError(t, err)
		req.Root = req.Dir
		return req
	}
	first := load(0, "n0")
	loader.cache.bound = 3*loader.cache.size + 100
	for i := 1; i <= 5; i++ {
		load(i, fmt.Sprintf("n%d", i))
		require.LessOrEqual(t, loader.cache.size, loader.cache.bound)
		_, known := loader.cache.get(first.key(nil), first.Root)
		require.True(t, known, "what is used stays")
	}
	require.Len(t, loader.cache.entries, 3)

	loader.cache.bound = maxCacheBytes
	for i := range 2 * maxVariants {
		load(i, "same")
	}
	most := 0
	for _, entries := range loader.cache.entries {
		most = max(most, len(entries))
	}
	require.Equal(t, maxVariants, most)

	loader.cache = newCache(100)
	load(0, "n0")
	require.Empty(t, loader.cache.entries, "more than all room there is")
	require.Zero(t, loader.cache.size)
}

func TestTheEstimateOfMemoryIsNearWhatIsHeld(t *testing.T) { // not parallel: it looks at the memory of the process
	text := strings.Repeat("---\napiVersion: apps/v1\nkind: Deployment\n"+
		"metadata: {name: web, labels: {app: web}}\nspec:\n  replicas: 2\n  template:\n    spec:\n"+
		"      containers:\n      - {name: main, image: 'app:v1', env: [{name: A, value: b}], ports: "+
		"[{containerPort: 80}]}\n", 1000)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	manifests, err := Parse([]byte(text), "a.yaml")
	require.NoError(t, err)
	runtime.GC()
	runtime.ReadMemStats(&after)
	held := float64(after.HeapAlloc) - float64(before.HeapAlloc)
	t.Logf("held %.0f, estimated %d bytes", held, sizeOf(&result{manifests: manifests}))
	require.InEpsilon(t, held, sizeOf(&result{manifests: manifests}), 0.4)
	runtime.KeepAlive(manifests)
}
