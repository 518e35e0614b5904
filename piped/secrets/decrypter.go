// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"encoding/base64"
	"fmt"
	"os"
	"strings"

	"github.com/pipedeck/pipedeck/piped/config"
)

// MaxCiphertext bounds an encrypted secret in bytes.
const MaxCiphertext = 512 << 10

// Decrypter opens encrypted secrets. Its methods may be called from any goroutine.
type Decrypter interface {
	// Decrypt returns the secret value, or a *CipherError.
	Decrypt(ciphertext string) (string, error)
	// PublicKey is what control planes encrypt with: PEM for KEY_PAIR, empty for other kinds, which
	// PipeCD's protocol does not know.
	PublicKey() string
	// Sensitive lists the texts of the key that no one else may see.
	Sensitive() []string
}

// CipherError says why a text is not a secret for this piped. It never holds a part of the secret.
type CipherError struct {
	Problem string
	// Foreign says that it may be a secret for another key.
	Foreign bool
}

func (e *CipherError) Error() string { return e.Problem }

// KeyError is a mistake in the keys of a piped configuration.
type KeyError struct {
	// Field is the path of the key in the configuration.
	Field string
	Err   error
}

func (e *KeyError) Error() string { return e.Field + ": " + e.Err.Error() }
func (e *KeyError) Unwrap() error { return e.Err }

// Open reads the keys that a piped configuration names. It returns nil without an error when there are
// none, or only of a kind that is not implemented.
func Open(c *config.SecretManagement) (Decrypter, error) {
	if c == nil {
		return nil, nil
	}
	switch c.Type {
	case config.SecretsKeyPair:
		return openKeyPair(c.Config)
	case config.SecretsAge:
		return openAge(c.Config)
	default:
		return nil, nil
	}
}

// readKey reads a key from a file or from base64. The name is that of the fields without File and Data.
func readKey(name, file, data string) (text, field string, err error) {
	field = "spec.secretManagement.config." + name
	if data != "" {
		field += "Data"
		decoded, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			return "", field, &KeyError{field, fmt.Errorf("it is not base64: encode the file with base64")}
		}
		return string(decoded), field, nil
	}
	field += "File"
	content, err := os.ReadFile(file)
	if err != nil {
		return "", field, &KeyError{field, fmt.Errorf("read the key: %w", err)}
	}
	return string(content), field, nil
}

// decode takes base64 with any white space in it, as line breaks of a YAML file.
func decode(ciphertext string) ([]byte, error) {
	if len(ciphertext) > MaxCiphertext {
		return nil, &CipherError{
			Problem: fmt.Sprintf(
				"it has %d bytes, more than the %d KiB that a secret may have", len(ciphertext), MaxCiphertext>>10,
			),
		}
	}
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(ciphertext), ""))
	if err != nil {
		return nil, &CipherError{
			Problem: "it is not base64: was the plain text put in its place, or a part of it lost?",
		}
	}
	return data, nil
}
