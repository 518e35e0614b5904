// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

func TestImageReferencesAreTakenApart(t *testing.T) {
	t.Parallel()
	digest := "sha256:" + strings.Repeat("a1", 32)
	for reference, want := range map[string]manifest.Image{
		"nginx":                        {Repository: "index.docker.io/library/nginx", Name: "nginx"},
		"nginx:1.27":                   {Repository: "index.docker.io/library/nginx", Name: "nginx", Tag: "1.27"},
		"docker.io/library/nginx:1.27": {Repository: "index.docker.io/library/nginx", Name: "nginx", Tag: "1.27"},
		"team/app:v1":                  {Repository: "index.docker.io/team/app", Name: "app", Tag: "v1"},
		"localhost/app:v1":             {Repository: "localhost/app", Name: "app", Tag: "v1"},
		"registry:5000/app":            {Repository: "registry:5000/app", Name: "app"},
		"registry:5000/app:v1":         {Repository: "registry:5000/app", Name: "app", Tag: "v1"},
		"registry.example:5000/a/b/c/app:v1-rc.1": {Repository: "registry.example:5000/a/b/c/app", Name: "app",
			Tag: "v1-rc.1"},
		"[::1]:5000/app:v1":          {Repository: "[::1]:5000/app", Name: "app", Tag: "v1"},
		"ghcr.io/team/app@" + digest: {Repository: "ghcr.io/team/app", Name: "app", Digest: digest},
		"registry:5000/team/app:v1@" +
			digest: {Repository: "registry:5000/team/app", Name: "app", Tag: "v1", Digest: digest},
		"ghcr.io/team/app:v1@sha512:ff": {Repository: "ghcr.io/team/app", Name: "app", Tag: "v1",
			Digest: "sha512:ff"},
		"No Image/Of:This:Kind": {Repository: "No Image/Of", Name: "Of", Tag: "This:Kind"},
		"${REGISTRY}/app:v1":    {Repository: "${REGISTRY}/app", Name: "app", Tag: "v1"},
		"":                      {},
	} {
		want.Reference = reference
		require.Equal(t, want, manifest.ParseImage(reference), reference)
	}
}

func TestAVersionIsTheTagOrElseTheDigest(t *testing.T) {
	t.Parallel()
	for reference, want := range map[string]string{
		"registry:5000/app": "latest", "app:v1": "v1", "app@sha256:ab": "sha256:ab",
		"registry:5000/app:v1@sha256:ab": "v1",
	} {
		require.Equal(t, want, manifest.ParseImage(reference).Version(), reference)
	}
}

// Whatever stands for an image, its parts are parts of it.
func FuzzParseImage(f *testing.F) {
	f.Add("registry:5000/team/app:v1@sha256:ab")
	f.Add("a@b@c")
	f.Add(":/@")
	f.Fuzz(func(t *testing.T, reference string) {
		image := manifest.ParseImage(reference)
		require.Contains(t, reference, image.Name)
		require.Contains(t, reference, image.Tag)
		require.Contains(t, reference, image.Digest)
		require.NotEmpty(t, image.Version())
	})
}
