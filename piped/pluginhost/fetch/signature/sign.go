// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package signature

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"io"

	"aead.dev/minisign"
	bundlev1 "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"
	commonv1 "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

// Sign reads the binary and signs it. The comment is a line that the signature covers, where its form has one.
func (k *PrivateKey) Sign(binary io.Reader, comment string) ([]byte, error) {
	if k.minisign != nil {
		reader := minisign.NewReader(binary)
		if _, err := io.Copy(io.Discard, reader); err != nil {
			return nil, fmt.Errorf("read what is signed: %w", err)
		}
		return reader.SignWithComments(
			*k.minisign, comment, fmt.Sprintf("signature by the key %X", k.minisign.ID()),
		), nil
	}
	short, long := sha256.New(), sha512.New()
	if _, err := io.Copy(io.MultiWriter(short, long), binary); err != nil {
		return nil, fmt.Errorf("read what is signed: %w", err)
	}
	digest, algorithm, options := short.Sum(nil), commonv1.HashAlgorithm_SHA2_256, crypto.SignerOpts(crypto.SHA256)
	if _, ok := k.signer.Public().(ed25519.PublicKey); ok {
		digest, algorithm, options = long.Sum(nil), commonv1.HashAlgorithm_SHA2_512, &ed25519.Options{
			Hash: crypto.SHA512,
		}
	}
	signed, err := k.signer.Sign(rand.Reader, digest, options)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	return protojson.Marshal(&bundlev1.Bundle{
		MediaType: BundleMediaType,
		VerificationMaterial: &bundlev1.VerificationMaterial{
			Content: &bundlev1.VerificationMaterial_PublicKey{
				PublicKey: &commonv1.PublicKeyIdentifier{Hint: k.public.Hint()},
			},
		},
		Content: &bundlev1.Bundle_MessageSignature{MessageSignature: &commonv1.MessageSignature{
			MessageDigest: &commonv1.HashOutput{Algorithm: algorithm, Digest: digest}, Signature: signed,
		}},
	})
}
