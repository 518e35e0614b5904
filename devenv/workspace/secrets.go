// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pipedeck/pipedeck/system/owned"
)

// Lengths as PipeCD generates them.
const (
	pipedKeyLength  = 50
	apiSecretLength = 32
	// maxKey bounds what is read of a key file, in bytes.
	maxKey = 16 << 10
)

// Secrets are the credentials of one environment, generated on first use and never shared with
// another environment.
type Secrets struct {
	// PipedKey is what piped shows to the control plane.
	PipedKey string
	// APIKey has the form "<id>.<secret>" and is what user interfaces and pipectl show.
	APIKey string
}

// Keys are the keys of an environment, each in a separate file.
type Keys struct{ dir, name string }

// Keys returns the keys of the environment. Ensure methods create their files.
func (w *Workspace) Keys() Keys { return Keys{dir: w.SecretsDir(), name: w.Name} }

// PipedKeyFile is the file that the piped configuration names.
func (k Keys) PipedKeyFile() string { return filepath.Join(k.dir, "piped.key") }

// APIKeyFile is the file for pipectl's --api-key-file.
func (k Keys) APIKeyFile() string { return filepath.Join(k.dir, "api.key") }

// EnsureSecrets returns the environment's secrets and makes them when there are none.
func (k Keys) EnsureSecrets() (*Secrets, error) {
	pipedKey, err := ensure(k.PipedKeyFile(), func() string { return random(pipedKeyLength) })
	if err != nil {
		return nil, err
	}
	apiKey, err := ensure(k.APIKeyFile(), func() string { return k.name + "." + random(apiSecretLength) })
	if err != nil {
		return nil, err
	}
	return &Secrets{PipedKey: pipedKey, APIKey: apiKey}, nil
}

// APIKey returns the API key of an environment that has one.
func (k Keys) APIKey() (string, error) {
	data, err := owned.ReadFile(k.APIKeyFile(), maxKey)
	if err != nil {
		return "", fmt.Errorf("read the environment's API key: %w", err)
	}
	return strings.TrimSpace(string(data)), nil
}

func ensure(path string, generate func() string) (string, error) {
	data, err := owned.ReadFile(path, maxKey)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("read a key: %w", err)
	}
	secret := strings.TrimSpace(string(data))
	if secret == "" {
		secret = generate()
	}
	if secret == string(data) {
		return secret, nil
	}
	// Without a line break at its end: PipeCD's piped puts the content of its key file into a header as it is.
	if err := WriteFile(path, []byte(secret)); err != nil {
		return "", fmt.Errorf("store a key: %w", err)
	}
	return secret, nil
}

// random returns n letters and digits from the system's generator.
func random(n int) string {
	const alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	var b strings.Builder
	buffer := make([]byte, n)
	for b.Len() < n {
		rand.Read(buffer) // never fails: crypto/rand ends the program instead
		for _, c := range buffer {
			// Values past the last whole multiple would make early letters more likely.
			if int(c) < 256-256%len(alphabet) && b.Len() < n {
				b.WriteByte(alphabet[int(c)%len(alphabet)])
			}
		}
	}
	return b.String()
}

// WriteFile replaces a file by one with mode 0600. A reader sees the old or the new content whole, and so does the
// next start after a power cut: what others refer to, such as a key, must not be an empty file then.
func WriteFile(path string, data []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(data)
	if err := errors.Join(err, temporary.Sync(), temporary.Close()); err != nil {
		return err
	}
	if err := os.Rename(temporary.Name(), path); err != nil {
		return err
	}
	return owned.SyncDirectory(filepath.Dir(path))
}
