// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// Domain is the registry of the images that are built from sources. Nothing is ever pulled from it.
const Domain = "pipedeck.dev"

const (
	// maxReference is more than a registry allows for path and tag together.
	maxReference = 512
	// tagLength of a digest's hexadecimal digits distinguish any two sources of one folder.
	tagLength = 12
)

// folderOf returns from which folder of the repository an image would be built; "" when it is built
// elsewhere. A reference with a digest names bytes that exist, so it is never ours.
func folderOf(reference string) string {
	if !strings.HasPrefix(reference, Domain+"/") || len(reference) > maxReference {
		return ""
	}
	tag, err := name.NewTag(reference)
	if err != nil {
		return ""
	}
	folder := tag.RepositoryStr()
	if tag.RegistryStr() != Domain || path.Clean(folder) != folder || folder == "." ||
		!filepath.IsLocal(filepath.FromSlash(folder)) {
		return ""
	}
	return folder
}
