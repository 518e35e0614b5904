// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	digestA = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	m       = `{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"` + digestA + `","size":1`
)

func TestThePlatformIsChosen(t *testing.T) {
	t.Parallel()
	other := strings.ReplaceAll(m, "aaaa", "bbbb")
	for name, c := range map[string]struct{ index, says string }{
		"by name": {
			other + `,"platform":{"os":"linux","architecture":"arm64"}},` + m +
				`,"platform":{"os":"linux","architecture":"amd64"}}`,
			"",
		},
		"one for all": {m + `}`, ""},
		"none for it": {
			m + `,"platform":{"os":"linux","architecture":"arm64"}}`,
			"not there for linux/amd64, only for: linux/arm64",
		},
		"a strange digest": {strings.ReplaceAll(m, "aaaa", "../.") + `}`, "not a SHA-256 digest"},
	} {
		found, err := choosePlatform([]byte(`{"manifests":[`+c.index+`]}`), "linux", "amd64")
		if c.says != "" {
			require.ErrorContains(t, err, c.says, name)
			continue
		}
		require.NoError(t, err, name)
		require.EqualValues(t, digestA, found.Digest, name)
	}
}

func TestTheLayerIsChosen(t *testing.T) {
	t.Parallel()
	const manifest = "application/vnd.oci.image.manifest.v1+json"
	layer := func(kind string) string { return `{"mediaType":"` + kind + `","digest":"` + digestA + `","size":1}` }
	for name, c := range map[string]struct{ kind, data, says string }{
		"PipeCD's": {
			manifest,
			`{"artifactType":"` + ArtifactType + `","layers":[` + layer("text/plain") + `,` + layer(
				LayerMediaType,
			) + `]}`,
			"",
		},
		"PipeCD's first": {
			manifest, `{"artifactType":"` + LayerMediaType + `","layers":[` + layer(LayerMediaType) + `]}`, "",
		},
		"an image": {
			manifest, `{"layers":[` + layer("application/vnd.oci.image.layer.v1.tar") + `]}`,
			`an artifact of the type ""`,
		},
		"without a binary":      {manifest, `{"artifactType":"` + ArtifactType + `","layers":[]}`, "has no layer"},
		"something of Docker's": {"application/vnd.docker.distribution.manifest.v2+json", `{}`, "no artifact of OCI"},
		"nonsense":              {manifest, `{`, "cannot be read"},
	} {
		found, err := chooseLayer(c.kind, []byte(c.data))
		if c.says != "" {
			require.ErrorContains(t, err, c.says, name)
			continue
		}
		require.NoError(t, err, name)
		require.EqualValues(t, digestA, found.Digest, name)
	}
}

func FuzzManifests(f *testing.F) {
	f.Add(
		[]byte(
			`{"artifactType":"` + ArtifactType + `","layers":[{"mediaType":"` + LayerMediaType + `","digest":"` +
				digestA + `","size":1}]}`,
		),
	)
	f.Add([]byte(`{"manifests":[` + m + `,"platform":{"os":"linux","architecture":"amd64"}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if d, err := chooseLayer("application/vnd.oci.image.manifest.v1+json", data); err == nil {
			require.Equal(t, "/c/content", filepath.Dir(cache{dir: "/c"}.path(d.Digest.Encoded())))
		}
		if d, err := choosePlatform(data, "linux", "amd64"); err == nil {
			require.NoError(t, d.Digest.Validate())
		}
	})
}
