// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"

	"github.com/pipedeck/pipedeck/piped/config"
)

// ageKeys opens files that age has encrypted for one of the identities, armored or as base64.
type ageKeys struct {
	identities []age.Identity
	text       string
}

const ageHint = "encrypt it with age --armor -r RECIPIENT, which age-keygen -y shows for the identity of this piped"

func openAge(c config.SecretKeys) (*ageKeys, error) {
	text, field, err := readKey("identity", c.IdentityFile, c.IdentityData)
	if err != nil {
		return nil, err
	}
	identities, err := age.ParseIdentities(strings.NewReader(text))
	if err != nil {
		// The library's error may repeat the line.
		return nil, &KeyError{field, fmt.Errorf("it holds no age identities: make it with age-keygen")}
	}
	return &ageKeys{identities: identities, text: text}, nil
}

func (k *ageKeys) PublicKey() string { return "" }

func (k *ageKeys) Sensitive() []string {
	var keys []string
	for line := range strings.Lines(k.text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "AGE-") {
			keys = append(keys, line)
		}
	}
	return keys
}

func (k *ageKeys) Decrypt(ciphertext string) (string, error) {
	file, err := ageFile(ciphertext)
	if err != nil {
		return "", err
	}
	reader, err := age.Decrypt(file, k.identities...)
	if err != nil {
		return "", &CipherError{Problem: "no identity of this piped opens it, or it is not an age file; " + ageHint,
			Foreign: errors.As(err, new(*age.NoIdentityMatchError))}
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		return "", &CipherError{Problem: "a part of it was changed or lost; " + ageHint}
	}
	return string(text), nil
}

func ageFile(ciphertext string) (io.Reader, error) {
	if trimmed := strings.TrimSpace(ciphertext); strings.HasPrefix(trimmed, armor.Header) {
		if len(trimmed) > MaxCiphertext {
			return nil, &CipherError{
				Problem: fmt.Sprintf(
					"it has %d bytes, more than the %d KiB that a secret may have", len(trimmed), MaxCiphertext>>10,
				),
			}
		}
		return armor.NewReader(strings.NewReader(trimmed + "\n")), nil
	}
	data, err := decode(ciphertext)
	if err != nil {
		return nil, err
	}
	return bytes.NewReader(data), nil
}
