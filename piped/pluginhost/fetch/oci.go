// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/errcode"
)

// PipeCD v1 pushes an index with one manifest for each platform, each with one layer.
const (
	// LayerMediaType is that of the layer with the binary.
	LayerMediaType = "application/vnd.pipecd.piped.plugin"
	// ArtifactType is that of the manifests.
	ArtifactType = "application/vnd.pipecd.piped.plugin+type"
)

const maxManifest = 1 << 20 // bytes

type ociSource struct {
	repository *remote.Repository
	reference  string
}

// ociRepository is the repository that an oci:// URL names, and the tag or digest in it: latest without one.
func ociRepository(u *url.URL) (registry.Reference, error) {
	if u.User != nil {
		return registry.Reference{}, refused(logIn, "a url of a registry cannot hold a password")
	}
	name := u.Host + u.Path
	if path, digest, ok := strings.Cut(name, "@"); ok {
		path, _ = cutTag(path) // the digest says more than the tag
		name = path + "@" + digest
	} else if _, tag := cutTag(name); tag == "" {
		name += ":latest"
	}
	ref, err := registry.ParseReference(name)
	if err != nil {
		return registry.Reference{}, refused(
			"write it as oci://registry/repository:tag or oci://registry/repository@sha256:…",
			"the url is not that of an artifact: %w", err,
		)
	}
	return ref, nil
}

func cutTag(name string) (path, tag string) {
	at := strings.LastIndex(name, ":")
	if at < strings.LastIndex(name, "/") || at < 0 {
		return name, ""
	}
	return name[:at], name[at+1:]
}

func (f *Fetcher) ociSource(u *url.URL) (*ociSource, error) {
	ref, err := ociRepository(u)
	if err != nil {
		return nil, err
	}
	client := &auth.Client{Client: f.client, Cache: auth.NewCache(), Header: http.Header{"User-Agent": {userAgent}}}
	store, err := f.logins()
	if err != nil {
		return nil, refused("correct the file, or remove it", "read the logins of registries: %w", err)
	}
	client.Credential = credentials.Credential(store)
	repository := &remote.Repository{Client: client, Reference: ref, PlainHTTP: loopback(ref.Registry)}
	return &ociSource{repository: repository, reference: ref.Reference}, nil
}

// logins are those of docker, which other tools share.
func (f *Fetcher) logins() (credentials.Store, error) {
	if f.options.DockerConfig != "" {
		return credentials.NewStore(f.options.DockerConfig, credentials.StoreOptions{})
	}
	return credentials.NewStoreFromDocker(credentials.StoreOptions{})
}

// pinned reports whether the url holds a digest: what it names never changes.
func (s *ociSource) pinned() bool { return strings.Contains(s.reference, ":") }

func (s *ociSource) open(ctx context.Context, _ entry, has func(digest string) bool) (*answer, error) {
	found, err := s.resolve(ctx)
	if err != nil {
		return nil, err
	}
	known := entry{SHA256: found.layer.Digest.Encoded(), Manifests: found.manifests}
	if has(known.SHA256) {
		return &answer{entry: known}, nil
	}
	body, err := s.repository.Blobs().Fetch(ctx, found.layer)
	if err != nil {
		return nil, registryFailure(err)
	}
	return &answer{body: body, size: found.layer.Size, entry: known}, nil
}

// artifact is what a registry has for this platform.
type artifact struct {
	// manifests that lead to the layer: its own, and the index when there is one.
	manifests []digest.Digest
	layer     ocispec.Descriptor
}

// resolve follows the reference to the layer with the binary.
func (s *ociSource) resolve(ctx context.Context) (artifact, error) {
	target, data, err := s.top(ctx)
	if err != nil {
		return artifact{}, err
	}
	manifests := []digest.Digest{target.Digest}
	if target.MediaType == ocispec.MediaTypeImageIndex {
		if target, err = choosePlatform(data, runtime.GOOS, runtime.GOARCH); err != nil {
			return artifact{}, err
		}
		if data, err = s.read(ctx, target); err != nil {
			return artifact{}, err
		}
		manifests = []digest.Digest{target.Digest, manifests[0]}
	}
	layer, err := chooseLayer(target.MediaType, data)
	return artifact{manifests: manifests, layer: layer}, err
}

// top is what the reference itself names.
func (s *ociSource) top(ctx context.Context) (ocispec.Descriptor, []byte, error) {
	target, err := s.repository.Resolve(ctx, s.reference)
	if err != nil {
		return target, nil, registryFailure(err)
	}
	if s.pinned() && target.Digest.String() != s.reference {
		return target, nil, refused(
			"find out why the registry gives something else", "the registry answers with %s in place of %s",
			target.Digest, s.reference,
		)
	}
	data, err := s.read(ctx, target)
	return target, data, err
}

// read gets a manifest or an index whole and checks its digest.
func (s *ociSource) read(ctx context.Context, target ocispec.Descriptor) ([]byte, error) {
	if target.Size > maxManifest {
		return nil, refused(notAPlugin, "its manifest is larger than %d MiB", maxManifest>>20)
	}
	body, err := s.repository.Manifests().Fetch(ctx, target)
	if err != nil {
		return nil, registryFailure(err)
	}
	defer body.Close()
	data, err := content.ReadAll(body, target)
	if err != nil {
		return nil, passing(
			"check the network and the registry, then start the plugin again", "read its manifest: %w", err,
		)
	}
	return data, nil
}

const notAPlugin = "check that the url is that of a plugin, pushed with pipedeck plugin push or pipectl plugin push"

// choosePlatform finds the manifest for a machine. One without a platform is for all of them.
func choosePlatform(data []byte, system, architecture string) (ocispec.Descriptor, error) {
	var index ocispec.Index
	if err := json.Unmarshal(data, &index); err != nil {
		return ocispec.Descriptor{}, refused(notAPlugin, "its index cannot be read: %w", err)
	}
	var offered []string
	for _, m := range index.Manifests {
		if m.MediaType != ocispec.MediaTypeImageManifest {
			continue
		}
		if m.Platform == nil || m.Platform.OS == system && m.Platform.Architecture == architecture {
			return m, checkDescriptor(m)
		}
		offered = append(offered, m.Platform.OS+"/"+m.Platform.Architecture)
	}
	slices.Sort(offered)
	return ocispec.Descriptor{}, refused("ask its author for this platform, or build it and use file://",
		"it is not there for %s/%s, only for: %s", system, architecture, strings.Join(slices.Compact(offered), ", "))
}

// chooseLayer finds the binary in a manifest.
func chooseLayer(mediaType string, data []byte) (ocispec.Descriptor, error) {
	if mediaType != ocispec.MediaTypeImageManifest {
		return ocispec.Descriptor{}, refused(notAPlugin, "it is of the type %q, which is no artifact of OCI", mediaType)
	}
	var manifest ocispec.Manifest
	if err := json.Unmarshal(data, &manifest); err != nil {
		return ocispec.Descriptor{}, refused(notAPlugin, "its manifest cannot be read: %w", err)
	}
	if !slices.Contains([]string{ArtifactType, LayerMediaType}, manifest.ArtifactType) {
		return ocispec.Descriptor{}, refused(
			notAPlugin, "it is an artifact of the type %q, where plugins have %s", manifest.ArtifactType, ArtifactType,
		)
	}
	return layerOf(manifest, LayerMediaType)
}

func layerOf(manifest ocispec.Manifest, mediaType string) (ocispec.Descriptor, error) {
	for _, layer := range manifest.Layers {
		if layer.MediaType == mediaType {
			return layer, checkDescriptor(layer)
		}
	}
	return ocispec.Descriptor{}, refused(notAPlugin, "it has no layer of the type %s", mediaType)
}

// checkDescriptor wants a digest that can be a file's name here.
func checkDescriptor(d ocispec.Descriptor) error {
	if err := d.Digest.Validate(); err != nil || d.Digest.Algorithm() != "sha256" || d.Size < 0 {
		return refused(notAPlugin, "it names its content by %q, which is not a SHA-256 digest", d.Digest)
	}
	return nil
}

const logIn = "log in with docker login, oras login or podman login"

// registryFailure distinguishes passing errors of a registry from the others.
func registryFailure(err error) error {
	var response *errcode.ErrorResponse
	switch {
	case errors.As(err, &response) && response.StatusCode == http.StatusUnauthorized:
		return refused(logIn, "the registry gives no access (401 Unauthorized)")
	case errors.As(err, &response) && response.StatusCode == http.StatusForbidden:
		return gone(logIn, "the registry gives no access (403 Forbidden)")
	case errors.As(err, &response):
		return statusFailure(response.StatusCode)
	case errors.Is(err, errdef.ErrNotFound):
		return gone("correct the name and the tag in the url", "the registry has no such artifact")
	case errors.Is(err, auth.ErrBasicCredentialNotFound):
		return refused(logIn, "the registry wants a login, and there is none")
	}
	return requestFailure(fmt.Errorf("ask the registry: %w", err))
}
