// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package signature

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"fmt"
	"io"
	"slices"

	bundlev1 "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"
	commonv1 "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/pipedeck/pipedeck/piped/clip"
)

// BundleMediaType is that of the bundles that are written; the older spelling of the same version is read, too.
const (
	BundleMediaType    = "application/vnd.dev.sigstore.bundle.v0.3+json"
	oldBundleMediaType = "application/vnd.dev.sigstore.bundle+json;version=0.3"
)

// maxWhole is the size of a file in bytes whose signature needs all of it in memory: one of Ed25519 without a hash.
const maxWhole = 512 << 20

const signWithAKey = "sign with a key: pipedeck plugin sign --format sigstore, or cosign sign-blob --key"

// bundle is what is used of a bundle of Sigstore.
type bundle struct {
	signature []byte
	// hint names the key as the signer likes, mostly by a hash of it.
	hint string
	// digest of the file by algorithm; it only helps to explain what is wrong.
	algorithm commonv1.HashAlgorithm
	digest    []byte
}

func verifyBundle(file opened, text []byte, key PublicKey) error {
	b, err := parseBundle(text)
	if err != nil {
		return wrong(signWithAKey, "%w", err)
	}
	short, long := sha256.New(), sha512.New()
	if _, err := io.Copy(io.MultiWriter(short, long), file); err != nil {
		return wrong(makeReadable, "%w", err)
	}
	found := map[commonv1.HashAlgorithm][]byte{
		commonv1.HashAlgorithm_SHA2_256: short.Sum(nil), commonv1.HashAlgorithm_SHA2_512: long.Sum(nil),
	}
	if sum, ok := found[b.algorithm]; ok && !bytes.Equal(sum, b.digest) {
		return wrong(
			bothFromOneRelease, "the binary is not the one that was signed: it has the digest %x, and %x was signed",
			sum, b.digest,
		)
	}
	right, err := key.verifies(
		b.signature, file, found[commonv1.HashAlgorithm_SHA2_256], found[commonv1.HashAlgorithm_SHA2_512],
	)
	switch {
	case err != nil:
		return err
	case right:
		return nil
	case b.hint != "" && b.hint != key.Hint():
		return wrong("if the signer has a new key, write it to plugins[].signature.publicKey",
			"it is signed by the key %q, and the piped configuration wants %q", shorten(b.hint), key.Hint())
	}
	return wrong(bothFromOneRelease, "it is signed by another key, or the signature was changed")
}

// verifies checks a signature over the file, by its digests where that is enough. For Ed25519 signers differ: some sign
// the file, others its hash, which the algorithm itself distinguishes.
func (k PublicKey) verifies(signature []byte, file opened, short, long []byte) (bool, error) {
	switch key := k.pkix.(type) {
	case *ecdsa.PublicKey:
		return ecdsa.VerifyASN1(key, short, signature), nil
	case ed25519.PublicKey:
		if ed25519.VerifyWithOptions(key, long, signature, &ed25519.Options{Hash: crypto.SHA512}) == nil {
			return true, nil
		}
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return false, wrong(makeReadable, "%w", err)
		}
		whole, err := io.ReadAll(io.LimitReader(file, maxWhole+1))
		if err != nil {
			return false, wrong(makeReadable, "%w", err)
		}
		if len(whole) > maxWhole {
			return false, wrong(
				"sign with a key of ECDSA", "it is larger than the %d MiB for which signatures of Ed25519 are checked",
				maxWhole>>20,
			)
		}
		return ed25519.Verify(key, whole, signature), nil
	}
	return false, fmt.Errorf("a key of the type %T cannot check anything", k.pkix)
}

// parseBundle reads a bundle and refuses those that the key alone does not prove.
func parseBundle(text []byte) (bundle, error) {
	var read bundlev1.Bundle
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(text, &read); err != nil {
		return bundle{}, fmt.Errorf("the bundle of Sigstore cannot be read: %w", err)
	}
	if !slices.Contains([]string{BundleMediaType, oldBundleMediaType}, read.GetMediaType()) {
		return bundle{}, fmt.Errorf(
			"it is a bundle of the type %q, where %s is read (cosign before 3.0 writes it with --new-bundle-format)",
			shorten(cmp.Or(read.GetMediaType(), "none")), BundleMediaType,
		)
	}
	material := read.GetVerificationMaterial()
	switch {
	case material.GetCertificate() != nil || material.GetX509CertificateChain() != nil:
		return bundle{}, errors.New(
			"the bundle was made with a certificate (keyless), of which only a key is checked here",
		)
	case material.GetPublicKey() == nil:
		return bundle{}, errors.New("the bundle names no key")
	case read.GetDsseEnvelope() != nil:
		return bundle{}, errors.New("the bundle signs an attestation, and not the binary")
	case len(read.GetMessageSignature().GetSignature()) == 0:
		return bundle{}, errors.New("the bundle has no signature")
	}
	signed := read.GetMessageSignature()
	return bundle{
		signature: signed.GetSignature(), hint: material.GetPublicKey().GetHint(),
		algorithm: signed.GetMessageDigest().GetAlgorithm(), digest: signed.GetMessageDigest().GetDigest(),
	}, nil
}

// shorten clips what an error repeats of a text that another wrote.
func shorten(text string) string { return clip.Characters(text, 80) }
