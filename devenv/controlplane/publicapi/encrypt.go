// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package publicapi

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	as "github.com/pipedeck/pipedeck/api/controlplane/apiservice"
)

// Encrypt makes a secret that only the piped can read, with the public key that it reported.
func (s *Server) Encrypt(_ context.Context, r *as.EncryptRequest) (*as.EncryptResponse, error) {
	p, err := s.store.Pipeds.Get(r.GetPipedId())
	if err != nil {
		return nil, err
	}
	encryption := p.GetSecretEncryption()
	if encryption.GetType() != "KEY_PAIR" {
		return nil, status.Errorf(codes.FailedPrecondition,
			"piped %s has no key pair for secrets; set spec.secretManagement with type KEY_PAIR in its "+
				"configuration and restart it", p.GetName())
	}
	text := r.GetPlaintext()
	if r.GetBase64Encoding() {
		text = base64.StdEncoding.EncodeToString([]byte(text))
	}
	sealed, err := Seal([]byte(encryption.GetPublicKey()), []byte(text))
	if err != nil {
		return nil, status.Errorf(codes.FailedPrecondition, "encrypt with the public key of piped %s: %v", p.GetName(),
			err)
	}
	return &as.EncryptResponse{Ciphertext: sealed}, nil
}

// Seal encrypts for an RSA public key in PEM form, as PipeCD v1 does: a fresh AES-256-GCM key for the text, that key
// with RSA-OAEP-SHA256, all in base64 behind the big-endian length of the RSA part. The nonce is zero,
// which is safe because no key is used twice.
func Seal(publicKey, text []byte) (string, error) {
	public, err := parsePublicKey(publicKey)
	if err != nil {
		return "", err
	}
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return "", fmt.Errorf("make a key: %w", err)
	}
	wrapped, err := rsa.EncryptOAEP(sha256.New(), rand.Reader, public, key, nil)
	if err != nil {
		return "", fmt.Errorf("wrap the key: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return "", fmt.Errorf("use the key: %w", err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return "", fmt.Errorf("use the key: %w", err)
	}
	out := binary.BigEndian.AppendUint16(nil, uint16(len(wrapped)))
	out = append(out, wrapped...)
	out = gcm.Seal(out, make([]byte, gcm.NonceSize()), text, nil)
	return base64.StdEncoding.EncodeToString(out), nil
}

func parsePublicKey(data []byte) (*rsa.PublicKey, error) {
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, errors.New("it is not in PEM form")
	}
	if key, err := x509.ParsePKCS1PublicKey(block.Bytes); err == nil {
		return key, nil
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("parse it: %w", err)
	}
	public, ok := key.(*rsa.PublicKey)
	if !ok {
		return nil, fmt.Errorf("it is a %T, not an RSA key", key)
	}
	return public, nil
}
