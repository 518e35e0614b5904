// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"slices"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"

	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch/signature"
)

// Signer signs binaries with a key.
type Signer struct {
	Key *signature.PrivateKey
	// Comment is a line that signatures of minisign hold.
	Comment string
}

// Signed is a binary in a registry that has a signature now.
type Signed struct {
	// Platform like linux/amd64; empty when the registry does not report it.
	Platform string
	// SHA256 of the binary in hexadecimal.
	SHA256 string
	// Before is set when the key had signed it already.
	Before bool
}

// annotationContent is what cosign looks at among the bundles of a manifest.
const annotationContent, messageSignature = "dev.sigstore.bundle.content", "message-signature"

// Sign signs the binaries of all platforms that a registry has under the URL, and puts the signatures there. Whoever
// calls it vouches for what is there: with a URL that holds a digest no one can exchange it before.
func (f *Fetcher) Sign(ctx context.Context, address string, signer *Signer) ([]Signed, error) {
	signed, err := f.sign(ctx, address, signer)
	if err == nil || ctx.Err() != nil {
		return signed, err
	}
	return nil, did("sign", address, err)
}

func (f *Fetcher) sign(ctx context.Context, address string, signer *Signer) ([]Signed, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "oci" || u.Host == "" {
		return nil, refused("write it as oci://registry/repository:tag", "the url is not that of a registry")
	}
	src, err := f.ociSource(u)
	if err != nil {
		return nil, err
	}
	target, data, err := src.top(ctx)
	if err != nil {
		return nil, err
	}
	manifests := []ocispec.Descriptor{target}
	if target.MediaType == ocispec.MediaTypeImageIndex {
		var index ocispec.Index
		if err := json.Unmarshal(data, &index); err != nil {
			return nil, refused(notAPlugin, "its index cannot be read: %w", err)
		}
		manifests = slices.DeleteFunc(
			index.Manifests, func(d ocispec.Descriptor) bool { return d.MediaType != ocispec.MediaTypeImageManifest },
		)
	}
	var done []Signed
	for _, manifest := range manifests {
		one, err := src.signBinary(ctx, manifest, signer)
		if err != nil {
			return nil, err
		}
		done = append(done, one)
	}
	return done, nil
}

// signBinary signs the binary of one manifest, which is downloaded for that.
func (s *ociSource) signBinary(ctx context.Context, manifest ocispec.Descriptor, signer *Signer) (Signed, error) {
	if err := checkDescriptor(manifest); err != nil {
		return Signed{}, err
	}
	data, err := s.read(ctx, manifest)
	if err != nil {
		return Signed{}, err
	}
	layer, err := chooseLayer(manifest.MediaType, data)
	if err != nil {
		return Signed{}, err
	}
	one := Signed{SHA256: layer.Digest.Encoded()}
	if manifest.Platform != nil {
		one.Platform = manifest.Platform.OS + "/" + manifest.Platform.Architecture
	}
	file, err := s.temporary(ctx, layer)
	if err != nil {
		return Signed{}, err
	}
	defer os.Remove(file)
	texts, err := s.signatures(ctx, manifest.Digest, signer.Key.Public().Form())
	if err != nil {
		return Signed{}, err
	}
	one.Before = slices.ContainsFunc(texts, func(text []byte) bool {
		_, err := signature.Verify(file, text, signer.Key.Public())
		return err == nil
	})
	if one.Before {
		return one, nil
	}
	return one, s.sign(ctx, manifest, file, signer)
}

// temporary downloads a layer to a file that is the caller's to remove.
func (s *ociSource) temporary(ctx context.Context, layer ocispec.Descriptor) (path string, err error) {
	if layer.Size > DefaultMaxSize {
		return "", refused(
			"check that the url is the right one", "it is larger than %d KiB: %w", DefaultMaxSize>>10, errTooLarge,
		)
	}
	body, err := s.repository.Blobs().Fetch(ctx, layer)
	if err != nil {
		return "", registryFailure(err)
	}
	defer body.Close()
	file, err := os.CreateTemp("", "pipedeck-sign-*")
	if err != nil {
		return "", refused("make room in the directory for temporary files", "%w", err)
	}
	defer file.Close()
	reader := content.NewVerifyReader(body, layer)
	if _, err = io.Copy(file, reader); err == nil {
		err = reader.Verify()
	}
	if err != nil {
		_ = os.Remove(file.Name())
		return "", passing(
			"check the network and the room for temporary files, then try again", "download the binary: %w", err,
		)
	}
	return file.Name(), nil
}

// sign puts a signature of the binary next to its manifest.
func (s *ociSource) sign(ctx context.Context, manifest ocispec.Descriptor, path string, signer *Signer) error {
	binary, err := os.Open(path)
	if err != nil {
		return refused("make it readable", "%w", err)
	}
	defer binary.Close()
	text, err := signer.Key.Sign(binary, signer.Comment)
	if err != nil {
		return err
	}
	form := signer.Key.Public().Form()
	layer := ocispec.Descriptor{MediaType: artifactType(form), Digest: digest.FromBytes(text), Size: int64(len(text))}
	if err := pushOnce(ctx, s.repository, layer, bytes.NewReader(text)); err != nil {
		return err
	}
	referrer := ocispec.Manifest{
		ArtifactType: artifactType(form), Layers: []ocispec.Descriptor{layer},
		Subject: &ocispec.Descriptor{MediaType: manifest.MediaType, Digest: manifest.Digest, Size: manifest.Size},
	}
	if form == signature.Sigstore {
		referrer.Annotations = map[string]string{annotationContent: messageSignature}
	}
	_, err = pushManifest(ctx, s.repository, referrer)
	return err
}
