// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
)

// pack makes the archive of a chart.
func pack(t *testing.T, files map[string][]byte) []byte {
	t.Helper()
	var data bytes.Buffer
	zipped := gzip.NewWriter(&data)
	packed := tar.NewWriter(zipped)
	for name, text := range files {
		require.NoError(t, packed.WriteHeader(&tar.Header{Name: "web/" + name, Mode: 0o600, Size: int64(len(text))}))
		_, err := packed.Write(text)
		require.NoError(t, err)
	}
	require.NoError(t, packed.Close())
	require.NoError(t, zipped.Close())
	return data.Bytes()
}

func TestArchivesInAnArchiveHaveABoundTogether(t *testing.T) {
	t.Parallel()
	inner := pack(t, map[string][]byte{"Chart.yaml": []byte("{apiVersion: v2, name: web, version: 1.0.0}"),
		"files/zeros": make([]byte, 100_000)})
	require.Less(t, len(inner), 1000)
	one := []*archive.BufferedFile{{Name: "charts/one.tgz", Data: inner}}
	for files, want := range map[int]string{1: "", 2: "unpacked with its dependencies it is larger than 128 MiB"} {
		left := int64(150_000)
		var all []*archive.BufferedFile
		for range files {
			all = append(all, one...)
		}
		if err := unpack(all, &left, 0); want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, want)
		}
	}
	left := int64(150_000)
	outer := pack(t, map[string][]byte{"charts/one.tgz": inner, "charts/two.tgz": inner})
	require.Error(t, unpack([]*archive.BufferedFile{{Name: "charts/outer.tgz", Data: outer}}, &left, 0))

	chart := pack(t, map[string][]byte{"Chart.yaml": []byte("{apiVersion: v2, name: web, version: 1.0.0}"),
		"charts/broken.tgz": []byte("broken")})
	_, err := loadArchive(chart)
	require.ErrorContains(t, err, "charts/broken.tgz: not a chart that can be used")
}
