// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch/signature"
)

// MinisignArtifactType is that of a signature of minisign in a registry, and of its layer. One of Sigstore has
// [signature.BundleMediaType].
const MinisignArtifactType = "application/vnd.pipedeck.plugin.signature.minisign.v1"

// maxReferrers bounds how many signatures of one manifest are looked at.
const maxReferrers = 64

func artifactType(form signature.Form) string {
	if form == signature.Sigstore {
		return signature.BundleMediaType
	}
	return MinisignArtifactType
}

// checkReferrers looks in the registry of the plugin for a signature by the key: one that refers to the manifest of the
// binary, or to its index. A right one is kept, since it stays right.
func (f *Fetcher) checkReferrers(
	ctx context.Context, plugin config.Plugin, path string, key signature.PublicKey,
) (string, error) {
	sum, err := Digest(path)
	if err != nil {
		return "", refused("make it readable", "read its binary: %w", err)
	}
	keptAs := "signature of " + sum + " by " + key.String()
	if known, ok := f.cache.lookup(keptAs); ok {
		text, err := os.ReadFile(f.cache.path(known.SHA256))
		if err == nil {
			if comment, err := signature.Verify(path, text, key); err == nil {
				return comment, nil
			}
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, f.options.StallTimeout, errStalled)
	defer cancel()
	text, comment, err := f.findSignature(
		ctx, plugin.URL, sum, func(text []byte) (string, error) { return signature.Verify(path, text, key) },
		key.Form(),
	)
	if err != nil {
		return "", cause(ctx, err)
	}
	return comment, f.keepText(keptAs, plugin.URL, text)
}

// findSignature returns the first signature that is right, or why there is none.
func (f *Fetcher) findSignature(
	ctx context.Context, address, sum string, verify func([]byte) (string, error), form signature.Form,
) (text []byte, comment string, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, "", err
	}
	src, err := f.ociSource(u)
	if err != nil {
		return nil, "", err
	}
	known, ok := f.cache.read(address)
	if !ok || known.SHA256 != sum || len(known.Manifests) == 0 {
		found, err := src.resolve(ctx)
		if err != nil {
			return nil, "", err
		}
		known.Manifests = found.manifests
	}
	var last error
	for _, manifest := range known.Manifests {
		texts, err := src.signatures(ctx, manifest, form)
		if err != nil {
			return nil, "", err
		}
		for _, text := range texts {
			if comment, last = verify(text); last == nil {
				return text, comment, nil
			}
		}
	}
	if last != nil {
		return nil, "", ofSignature(last)
	}
	return nil, "", refused(
		"sign it with pipedeck plugin sign "+Redact(address)+" --key FILE, or give plugins[].signature.url",
		"its registry has no signature of %s for it", form,
	)
}

var errEnough = errors.New("enough")

// signatures are those of a form that refer to a manifest. What is no right artifact is left out:
// whoever may write to the registry may have put it there.
func (s *ociSource) signatures(
	ctx context.Context, manifest digest.Digest, form signature.Form,
) (texts [][]byte, err error) {
	var referrers []ocispec.Descriptor
	subject := ocispec.Descriptor{MediaType: ocispec.MediaTypeImageManifest, Digest: manifest}
	err = s.repository.Referrers(ctx, subject, "", func(page []ocispec.Descriptor) error {
		for _, referrer := range page {
			if referrer.MediaType == ocispec.MediaTypeImageManifest && maySign(referrer.ArtifactType, form) {
				referrers = append(referrers, referrer)
			}
		}
		if len(referrers) >= maxReferrers {
			referrers = referrers[:maxReferrers]
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, registryFailure(err)
	}
	for _, referrer := range referrers {
		text, err := s.signature(ctx, referrer, form)
		var why *failure
		switch {
		case errors.As(err, &why) && !why.passing && ctx.Err() == nil:
			continue
		case err != nil:
			return nil, err
		case text != nil:
			texts = append(texts, text)
		}
	}
	return texts, nil
}

// maySign reports whether a referrer may be a signature: registries from before OCI 1.1 give the type of its
// configuration in place of the type of the referrer.
func maySign(given string, form signature.Form) bool {
	return given == artifactType(form) || given == "" || given == ocispec.MediaTypeEmptyJSON
}

// signature is nil for an artifact of another type.
func (s *ociSource) signature(ctx context.Context, referrer ocispec.Descriptor, form signature.Form) ([]byte, error) {
	if err := checkDescriptor(referrer); err != nil {
		return nil, err
	}
	data, err := s.read(ctx, referrer)
	if err != nil {
		return nil, err
	}
	var manifest ocispec.Manifest
	if err := json.Unmarshal(data, &manifest); err != nil {
		return nil, refused(notAPlugin, "the manifest of its signature cannot be read: %w", err)
	}
	if manifest.ArtifactType != artifactType(form) {
		return nil, nil
	}
	layer, err := layerOf(manifest, artifactType(form))
	if err != nil {
		return nil, err
	}
	if layer.Size > signature.MaxSize {
		return nil, refused(notAPlugin, "its signature is larger than %d KiB", signature.MaxSize>>10)
	}
	text, err := content.FetchAll(ctx, s.repository.Blobs(), layer)
	if err != nil {
		return nil, registryFailure(err)
	}
	return text, nil
}

// keepText writes a text into the cache under a name that no URL has.
func (f *Fetcher) keepText(name, address string, text []byte) error {
	if err := f.cache.prepare(); err != nil {
		return noRoom(err)
	}
	file, err := os.CreateTemp(f.options.Dir, ".download-*")
	if err != nil {
		return noRoom(err)
	}
	defer os.Remove(file.Name()) // fails after the rename, as it should
	defer file.Close()
	if _, err := file.Write(text); err != nil {
		return noRoom(err)
	}
	sum := digest.FromBytes(text).Encoded()
	if err := f.cache.keep(file, sum); err != nil {
		return noRoom(err)
	}
	return f.remember(name, entry{URL: Redact(address), SHA256: sum, Fetched: time.Now().UTC()})
}

func noRoom(err error) error {
	return refused("make room or choose another --work-dir", "%w", err)
}

// ofSignature makes an error of package signature one of this package.
func ofSignature(err error) error {
	var wrong *signature.Error
	if errors.As(err, &wrong) {
		return refused(wrong.Step, "%w", wrong.Err)
	}
	return fmt.Errorf("check its signature: %w", err)
}
