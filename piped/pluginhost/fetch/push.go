// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"
)

// Push puts a plugin into a registry as PipeCD v1 does: an index with one manifest for each platform. Files are
// the binaries by platform ("linux/amd64"). They are signed when the Signer is not nil, before the tag is set. It
// returns the digest of the index ("sha256:…").
func (f *Fetcher) Push(ctx context.Context, address string, files map[string]string, signer *Signer) (string, error) {
	pushed, err := f.push(ctx, address, files, signer)
	if err == nil || ctx.Err() != nil {
		return pushed, err
	}
	return "", did("push to", address, err)
}

// did says what was done when an error occurred that has no plugin.
func did(what, address string, err error) error {
	failed := newError("", address, err)
	return fmt.Errorf("%s %s: %w; %s", what, failed.URL, failed.Err, failed.Step)
}

func (f *Fetcher) push(ctx context.Context, address string, files map[string]string, signer *Signer) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "oci" || u.Host == "" {
		return "", refused("write it as oci://registry/repository:tag", "the url is not that of a registry")
	}
	target, err := f.ociSource(u)
	if err != nil {
		return "", err
	}
	if strings.Contains(target.reference, ":") {
		return "", refused("write it as oci://registry/repository:tag", "the url of a push needs a tag, not a digest")
	}
	if len(files) == 0 {
		return "", refused("name at least one", "there is no binary to push")
	}
	index := ocispec.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageIndex}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		system, architecture, ok := strings.Cut(name, "/")
		if !ok || system == "" || architecture == "" || strings.Contains(architecture, "/") {
			return "", refused("write it like linux/amd64", "%q is not a platform", name)
		}
		manifest, err := pushBinary(ctx, target.repository, files[name])
		if err != nil {
			return "", err
		}
		if signer != nil {
			if err := target.sign(ctx, manifest, files[name], signer); err != nil {
				return "", err
			}
		}
		manifest.Platform = &ocispec.Platform{OS: system, Architecture: architecture}
		index.Manifests = append(index.Manifests, manifest)
	}
	data, err := json.Marshal(index)
	if err != nil {
		return "", err
	}
	described := content.NewDescriptorFromBytes(ocispec.MediaTypeImageIndex, data)
	if err := target.repository.PushReference(ctx, described, bytes.NewReader(data), target.reference); err != nil {
		return "", registryFailure(err)
	}
	return described.Digest.String(), nil
}

// pushBinary puts a binary and its manifest into the registry.
func pushBinary(ctx context.Context, to *remote.Repository, path string) (_ ocispec.Descriptor, err error) {
	file, err := os.Open(path)
	if err != nil {
		return ocispec.Descriptor{}, refused("build it, or correct the path", "%w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return ocispec.Descriptor{}, refused("name the binary of the plugin", "%s is not a file", path)
	}
	sum, err := Digest(path)
	if err != nil {
		return ocispec.Descriptor{}, refused("make it readable", "%w", err)
	}
	layer := ocispec.Descriptor{
		MediaType: LayerMediaType, Digest: digest.NewDigestFromEncoded(digest.SHA256, sum), Size: info.Size(),
		Annotations: map[string]string{ocispec.AnnotationTitle: filepath.Base(path)},
	}
	if err := pushOnce(ctx, to, layer, file); err != nil {
		return ocispec.Descriptor{}, err
	}
	return pushManifest(ctx, to, ocispec.Manifest{ArtifactType: ArtifactType, Layers: []ocispec.Descriptor{layer}})
}

// pushManifest puts an artifact without a configuration into the registry.
func pushManifest(ctx context.Context, to *remote.Repository, manifest ocispec.Manifest) (ocispec.Descriptor, error) {
	if err := pushOnce(
		ctx, to, ocispec.DescriptorEmptyJSON, bytes.NewReader(ocispec.DescriptorEmptyJSON.Data),
	); err != nil {
		return ocispec.Descriptor{}, err
	}
	manifest.Versioned, manifest.MediaType, manifest.Config = specs.Versioned{
		SchemaVersion: 2,
	}, ocispec.MediaTypeImageManifest, ocispec.DescriptorEmptyJSON
	data, err := json.Marshal(manifest)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	described := content.NewDescriptorFromBytes(ocispec.MediaTypeImageManifest, data)
	described.ArtifactType = manifest.ArtifactType
	return described, pushOnce(ctx, to, described, bytes.NewReader(data))
}

// pushOnce leaves out what the registry has.
func pushOnce(ctx context.Context, to *remote.Repository, d ocispec.Descriptor, from io.Reader) error {
	there, err := to.Exists(ctx, d)
	if err == nil && !there {
		err = to.Push(ctx, d, from)
	}
	if err != nil {
		var why *failure
		if errors.As(err, &why) {
			return err
		}
		return registryFailure(err)
	}
	return nil
}
