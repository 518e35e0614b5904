// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package signature

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"strings"

	"aead.dev/minisign"
)

// PublicKey is the key of a signer.
type PublicKey struct {
	minisign *minisign.PublicKey // nil for a key of Sigstore
	pkix     crypto.PublicKey
	der      []byte
}

const correctKey = "correct plugins[].signature.publicKey: it is the line of minisign's .pub file that begins with " +
	"RW, or a PUBLIC KEY in PEM as in cosign.pub"

// ParsePublicKey reads a key as plugins[].signature.publicKey has it: a line of minisign, or PEM with a key of ECDSA on
// P-256 or of Ed25519.
func ParsePublicKey(text string) (PublicKey, error) {
	if !strings.HasPrefix(strings.TrimSpace(text), "-----BEGIN") {
		var key minisign.PublicKey
		if err := key.UnmarshalText([]byte(text)); err != nil {
			return PublicKey{}, wrong(correctKey, "the public key cannot be read: %w", err)
		}
		return PublicKey{minisign: &key}, nil
	}
	block, _ := pem.Decode([]byte(strings.TrimSpace(text)))
	if block == nil || block.Type != "PUBLIC KEY" {
		return PublicKey{}, wrong(correctKey, "the public key is no PUBLIC KEY in PEM")
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return PublicKey{}, wrong(correctKey, "the public key cannot be read: %w", err)
	}
	return newPublicKey(key)
}

func newPublicKey(key crypto.PublicKey) (PublicKey, error) {
	if !supported(key) {
		return PublicKey{}, wrong(
			"use a key that pipedeck plugin sign --generate-key or cosign generate-key-pair makes",
			"the key is neither one of ECDSA on P-256 nor one of Ed25519",
		)
	}
	der, err := x509.MarshalPKIXPublicKey(key)
	return PublicKey{pkix: key, der: der}, err
}

func supported(key crypto.PublicKey) bool {
	switch key := key.(type) {
	case ed25519.PublicKey:
		return true
	case *ecdsa.PublicKey:
		return key.Curve == elliptic.P256()
	}
	return false
}

// Form is that of the signatures of the key.
func (k PublicKey) Form() Form {
	if k.minisign != nil {
		return Minisign
	}
	return Sigstore
}

// Hint is how bundles name the key: the SHA-256 of its DER in base64, as cosign does.
func (k PublicKey) Hint() string {
	sum := sha256.Sum256(k.der)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// String is the key as plugins[].signature.publicKey wants it.
func (k PublicKey) String() string {
	if k.minisign != nil {
		return k.minisign.String()
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: k.der}))
}
