// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// Image is a container image reference taken apart.
type Image struct {
	// Reference is the text as written: "registry.example:5000/team/app:v1@sha256:…".
	Reference string
	// Repository is the registry and path in full: "nginx" is "index.docker.io/library/nginx".
	Repository string
	// Name is the last part of the path: "app".
	Name string
	// Tag and Digest are empty when they are not given.
	Tag    string
	Digest string
}

// ParseImage takes a reference apart. A reference that no container runtime accepts is taken apart as well as it can
// be, because the parts are only shown to people; the cluster refuses it.
func ParseImage(reference string) Image {
	image := Image{Reference: reference}
	tagged, digest, _ := strings.Cut(reference, "@")
	image.Digest = digest
	ref, err := name.NewTag(tagged, name.WithDefaultTag(""), name.WeakValidation)
	if err != nil {
		last := tagged[strings.LastIndexByte(tagged, '/')+1:]
		image.Name, image.Tag, _ = strings.Cut(last, ":")
		image.Repository = strings.TrimSuffix(tagged, ":"+image.Tag)
		return image
	}
	image.Repository, image.Tag = ref.Context().Name(), ref.TagStr()
	path := ref.RepositoryStr()
	image.Name = path[strings.LastIndexByte(path, '/')+1:]
	return image
}

// Version is what a user knows the image by: its tag, else its digest, else "latest" as every runtime reads it.
func (i Image) Version() string {
	switch {
	case i.Tag != "":
		return i.Tag
	case i.Digest != "":
		return i.Digest
	default:
		return "latest"
	}
}

// Images returns the images of a manifest's containers in order, init containers last.
func Images(m Manifest) []Image {
	var images []Image
	for _, container := range Containers(PodSpec(m)) {
		if reference, ok := container["image"].(string); ok && reference != "" {
			images = append(images, ParseImage(reference))
		}
	}
	return images
}

// References returns the image references of all pods that manifests make, each once, in order.
func References(manifests []Manifest) []string {
	var references []string
	seen := map[string]bool{}
	for _, m := range manifests {
		for _, image := range Images(m) {
			if !seen[image.Reference] {
				seen[image.Reference] = true
				references = append(references, image.Reference)
			}
		}
	}
	return references
}

// ReplaceImages puts other references in the place of those that are keys of replacements.
func ReplaceImages(manifests []Manifest, replacements map[string]string) {
	for _, m := range manifests {
		for _, container := range Containers(PodSpec(m)) {
			if reference, ok := container["image"].(string); ok && replacements[reference] != "" {
				container["image"] = replacements[reference]
			}
		}
	}
}
