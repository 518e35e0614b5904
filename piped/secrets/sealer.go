// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// sealedVersion begins a sealed value; its last character is the version of the form.
const sealedVersion = "sealed1."

// Sealer closes values that hold secrets, so that they can be kept at a control plane for the piped that
// has put them there and for those that follow it. Its methods may be called from any goroutine.
type Sealer struct {
	gcm    cipher.AEAD
	masker *Masker
}

// NewSealer creates a Sealer whose key comes from that of the decrypter, which never leaves piped: whoever
// has the one can open the secrets in Git anyway, and pipeds that share it can open what others have
// sealed. It returns nil without a decrypter.
func NewSealer(d Decrypter, masker *Masker) (*Sealer, error) {
	if d == nil {
		return nil, nil
	}
	private := strings.Join(d.Sensitive(), "\n")
	key, err := hkdf.Key(sha256.New, []byte(private), nil, "pipedeck metadata", 32)
	if err != nil {
		return nil, fmt.Errorf("derive the key for metadata: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("use the key for metadata: %w", err)
	}
	gcm, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("use the key for metadata: %w", err)
	}
	return &Sealer{gcm: gcm, masker: masker}, nil
}

// Seal closes a value that would be masked; ok is false for others, which need it not. The place is where
// the value belongs: it can be opened nowhere else.
func (s *Sealer) Seal(value, place string) (sealed string, ok bool) {
	if s == nil || s.masker.Mask(value) == value {
		return "", false
	}
	return sealedVersion + base64.StdEncoding.EncodeToString(s.gcm.Seal(nil, nil, []byte(value), []byte(place))), true
}

// Open returns the value. It fails when the key is another one, or the value or its place was changed.
func (s *Sealer) Open(sealed, place string) (string, error) {
	text, ok := strings.CutPrefix(sealed, sealedVersion)
	switch {
	case s == nil:
		return "", errors.New("this piped has no secretManagement")
	case !ok:
		return "", errors.New("it is no sealed value that this version knows")
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return "", errors.New("it is not base64")
	}
	value, err := s.gcm.Open(nil, nil, data, []byte(place))
	if err != nil {
		return "", errors.New(
			"the key under secretManagement is another one than it was sealed with, or it was changed",
		)
	}
	return string(value), nil
}
