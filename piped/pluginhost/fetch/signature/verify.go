// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package signature

import (
	"bytes"
	"io"
	"os"
)

// MaxSize of a signature in bytes, with long comments or the entries of a transparency log.
const MaxSize = 64 << 10

const (
	bothFromOneRelease = "get the plugin and its signature from the same release; if both are right, find out who " +
		"has changed it"
	makeReadable = "make it readable"
)

// Form is the kind of a signature and of the key for it.
type Form string

// Forms.
const (
	Minisign Form = "minisign"
	Sigstore Form = "sigstore"
)

// Forms lists them for flags and errors.
func Forms() []Form { return []Form{Minisign, Sigstore} }

// Extension is what follows the name of a file in that of its signature.
func (f Form) Extension() string {
	if f == Sigstore {
		return ".sigstore.json"
	}
	return ".minisig"
}

// FormOf is the form of a signature: bundles of Sigstore are JSON objects, those of minisign lines of text.
func FormOf(text []byte) Form {
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return Sigstore
	}
	return Minisign
}

// Verify checks the file against a signature by the key. It returns what the signer says, minisign's trusted comment.
func Verify(path string, text []byte, key PublicKey) (comment string, err error) {
	if len(text) > MaxSize {
		return "", wrong(bothFromOneRelease, "the signature is larger than %d KiB", MaxSize>>10)
	}
	form := FormOf(text)
	if form != key.Form() {
		return "", wrong(
			"give the signer's key of that kind as plugins[].signature.publicKey, or a signature for the key there",
			"it is a signature of %s, and the key is one of %s", form, key.Form(),
		)
	}
	file, err := os.Open(path)
	if err != nil {
		return "", wrong(makeReadable, "%w", err)
	}
	defer file.Close()
	if form == Sigstore {
		return "", verifyBundle(file, text, key)
	}
	return verifyMinisign(file, text, *key.minisign)
}

// opened is the file that a signature is checked for.
type opened interface {
	io.Reader
	io.Seeker
}
