// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"aead.dev/minisign"
)

// passwordVariable is the environment variable with the password of the key.
const passwordVariable = "PIPEDECK_SIGN_PASSWORD"

// signatureSuffix ends the names of signatures.
const signatureSuffix = ".minisig"

// signer signs the files of a release. The same file gives the same signature.
type signer struct {
	private minisign.PrivateKey
	public  string
}

// loadSigner reads a key; without a file it makes one, which is good for trying a release only.
func loadSigner(file string) (*signer, error) {
	if file == "" {
		public, private, err := minisign.GenerateKey(rand.Reader)
		if err != nil {
			return nil, err
		}
		fmt.Fprintln(os.Stderr, "release: no key is given, so the files are signed by a new one that no one can trust")
		return &signer{private, public.String()}, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the key: %w", err)
	}
	var private minisign.PrivateKey
	if minisign.IsEncrypted(data) {
		private, err = minisign.DecryptKey(os.Getenv(passwordVariable), data)
	} else {
		err = private.UnmarshalText(bytes.TrimSpace(data))
	}
	if err != nil {
		return nil, fmt.Errorf("read the key %s: %w; its password is read from %s", file, err, passwordVariable)
	}
	return &signer{private, private.Public().(minisign.PublicKey).String()}, nil
}

// writeKey writes a new key and its public key. It overwrites nothing.
func writeKey(path string) error {
	public, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	secret, err := private.MarshalText()
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{path: secret, path + ".pub": []byte(public.String() + "\n")} {
		file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("write the key: %w", err)
		}
		_, err = file.Write(content)
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// sign returns the signature of a text.
func (s *signer) sign(content []byte, comment string) []byte {
	reader := minisign.NewReader(bytes.NewReader(content))
	_, _ = io.Copy(io.Discard, reader) // from memory
	return reader.SignWithComments(s.private, comment, "signature of a release of pipedeck")
}

// signFile writes the signature of a file next to it.
func (s *signer) signFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	reader := minisign.NewReader(file)
	if _, err := io.Copy(io.Discard, reader); err != nil {
		return err
	}
	signature := reader.SignWithComments(s.private, "file:"+filepath.Base(path), "signature of a release of pipedeck")
	return os.WriteFile(path+signatureSuffix, signature, 0o644)
}

// checksums writes SHA256SUMS of all files, and signs it and each file.
func (r *release) checksums() error {
	slices.Sort(r.made)
	var sums bytes.Buffer
	for _, name := range r.made {
		path := filepath.Join(r.output, name)
		sum, err := sha256Of(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%s  %s\n", sum, name)
		if err := r.key.signFile(path); err != nil {
			return err
		}
	}
	path := filepath.Join(r.output, "SHA256SUMS")
	return errors.Join(
		os.WriteFile(path, sums.Bytes(), 0o644), r.key.signFile(path),
		os.WriteFile(filepath.Join(r.output, "minisign.pub"),
			[]byte("untrusted comment: key of the releases of pipedeck\n"+r.key.public+"\n"), 0o644),
	)
}

// sha256Of returns the SHA-256 of a file in hexadecimal.
func sha256Of(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
