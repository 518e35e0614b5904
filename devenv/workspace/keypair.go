// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pipedeck/pipedeck/system/owned"
)

// keyPairBits is the size that PipeCD's documentation uses: quick to make, and enough for a piped whose
// secrets stay on one machine.
const keyPairBits = 2048

// PrivateKeyFile is the key that opens the secrets of applications; it is this environment's alone.
func (k Keys) PrivateKeyFile() string {
	return filepath.Join(k.dir, "encryption.private.pem")
}

// PublicKeyFile is the key that secrets are encrypted with.
func (k Keys) PublicKeyFile() string {
	return filepath.Join(k.dir, "encryption.public.pem")
}

// EnsureKeyPair makes the environment's key pair for secrets when there is none. A private key that is
// there stays: what was encrypted for it could be read by no other.
func (k Keys) EnsureKeyPair() error {
	private, err := readPrivateKey(k.PrivateKeyFile())
	if errors.Is(err, os.ErrNotExist) {
		private, err = k.makePrivateKey()
	}
	if err != nil {
		return fmt.Errorf("key pair for secrets: %w", err)
	}
	public, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	if err != nil {
		return fmt.Errorf("key pair for secrets: %w", err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
	if err := WriteFile(k.PublicKeyFile(), text); err != nil {
		return fmt.Errorf("store the public key for secrets: %w", err)
	}
	return nil
}

func (k Keys) makePrivateKey() (*rsa.PrivateKey, error) {
	private, err := rsa.GenerateKey(rand.Reader, keyPairBits)
	if err != nil {
		return nil, err
	}
	// The one form that PipeCD's piped reads.
	bytes, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	return private, WriteFile(k.PrivateKeyFile(), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: bytes}))
}

func readPrivateKey(path string) (*rsa.PrivateKey, error) {
	text, err := owned.ReadFile(path, maxKey)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil,
			fmt.Errorf("%s is not in PEM form; move it away, and encrypt the secrets of your applications again", path)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil,
			fmt.Errorf("%s is not in the form PKCS #8: %w; turn it into that with openssl pkcs8 -topk8 -nocrypt", path,
				err)
	}
	private, ok := key.(*rsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s is no RSA key; move it away, and encrypt the secrets of your applications again",
			path)
	}
	return private, nil
}
