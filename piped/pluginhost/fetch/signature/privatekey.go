// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package signature

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"

	"aead.dev/minisign"
)

// PrivateKey signs binaries. It is written and read in the form of the tool of its kind, so that minisign and cosign
// take it, too.
type PrivateKey struct {
	minisign *minisign.PrivateKey // nil for a key of Sigstore
	signer   crypto.Signer
	public   PublicKey
}

// MaxKeySize of the file of a private key in bytes.
const MaxKeySize = 64 << 10

const (
	typePlain     = "PRIVATE KEY"
	typeEC        = "EC PRIVATE KEY"
	typeEncrypted = "ENCRYPTED SIGSTORE PRIVATE KEY"
	typeCosign    = "ENCRYPTED COSIGN PRIVATE KEY" // what cosign wrote before
)

const nameKey = "give the file of a private key of minisign or cosign, or make one: pipedeck plugin sign " +
	"--generate-key --key FILE"

// Generate makes a key: for minisign, or of ECDSA on P-256 for Sigstore.
func Generate(form Form) (*PrivateKey, error) {
	if form == Minisign {
		_, key, err := minisign.GenerateKey(rand.Reader)
		if err != nil {
			return nil, err
		}
		return ofMinisign(key), nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	return ofSigner(key)
}

// ParsePrivateKey reads the file of a key. It asks for the password only when the key is encrypted.
func ParsePrivateKey(data []byte, password func() (string, error)) (*PrivateKey, error) {
	block, _ := pem.Decode(data)
	if block == nil {
		return parseMinisignKey(data, password)
	}
	switch block.Type {
	case typeEncrypted, typeCosign:
		secret, err := password()
		if err != nil {
			return nil, err
		}
		plain, err := unseal(block.Bytes, secret)
		if err != nil {
			return nil, err
		}
		return parseDER(plain, x509.ParsePKCS8PrivateKey)
	case typePlain:
		return parseDER(block.Bytes, x509.ParsePKCS8PrivateKey)
	case typeEC:
		return parseDER(block.Bytes, func(der []byte) (any, error) { return x509.ParseECPrivateKey(der) })
	}
	return nil, wrong(nameKey, "it holds a %q, which is no private key that signs", shorten(block.Type))
}

func parseMinisignKey(data []byte, password func() (string, error)) (*PrivateKey, error) {
	if !minisign.IsEncrypted(data) {
		var key minisign.PrivateKey
		if err := key.UnmarshalText(data); err != nil {
			return nil, wrong(nameKey, "it holds no private key") // the error of the decoder may repeat a part of it
		}
		return ofMinisign(key), nil
	}
	secret, err := password()
	if err != nil {
		return nil, err
	}
	key, err := minisign.DecryptKey(secret, data)
	if err != nil {
		return nil, errPassword()
	}
	return ofMinisign(key), nil
}

func parseDER(der []byte, parse func([]byte) (any, error)) (*PrivateKey, error) {
	key, err := parse(der)
	signer, ok := key.(crypto.Signer)
	if err != nil || !ok {
		return nil, wrong(nameKey, "the private key cannot be read")
	}
	return ofSigner(signer)
}

func ofMinisign(key minisign.PrivateKey) *PrivateKey {
	public := key.Public().(minisign.PublicKey)
	return &PrivateKey{minisign: &key, public: PublicKey{minisign: &public}}
}

func ofSigner(signer crypto.Signer) (*PrivateKey, error) {
	public, err := newPublicKey(signer.Public())
	if err != nil {
		return nil, err
	}
	return &PrivateKey{signer: signer, public: public}, nil
}

// Public is the key that checks the signatures.
func (k *PrivateKey) Public() PublicKey { return k.public }

// PublicFile is the content of the file of the public key, as minisign and cosign have it.
func (k *PrivateKey) PublicFile() ([]byte, error) {
	if k.minisign == nil {
		return []byte(k.public.String()), nil
	}
	text, err := k.public.minisign.MarshalText()
	return append(text, '\n'), err
}

// File is the content of the file of the private key, encrypted unless the password is empty.
func (k *PrivateKey) File(password string) ([]byte, error) {
	switch {
	case k.minisign != nil && password != "":
		text, err := minisign.EncryptKey(password, *k.minisign)
		return append(text, '\n'), err
	case k.minisign != nil:
		text, err := k.minisign.MarshalText()
		return append(text, '\n'), err
	}
	der, err := x509.MarshalPKCS8PrivateKey(k.signer)
	if err != nil {
		return nil, err
	}
	if password == "" {
		return pem.EncodeToMemory(&pem.Block{Type: typePlain, Bytes: der}), nil
	}
	sealed, err := seal(der, password, costN)
	if err != nil {
		return nil, fmt.Errorf("encrypt the private key: %w", err)
	}
	return bytes.TrimSpace(pem.EncodeToMemory(&pem.Block{Type: typeEncrypted, Bytes: sealed})), nil
}

func errPassword() error {
	return wrong("give the password of the key", "the private key cannot be decrypted")
}
