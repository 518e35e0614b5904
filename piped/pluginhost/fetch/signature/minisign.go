// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package signature

import (
	"errors"
	"fmt"
	"io"

	"aead.dev/minisign"
)

// verifyMinisign refuses minisign's old form, over the file and not over its hash: it could be taken for a signature
// of a hash.
func verifyMinisign(file io.Reader, text []byte, key minisign.PublicKey) (comment string, err error) {
	signed, err := parseMinisign(text)
	if err != nil {
		return "", wrong(bothFromOneRelease, "%w", err)
	}
	if signed.KeyID != key.ID() {
		return "", wrong("if the signer has a new key, write it to plugins[].signature.publicKey",
			"it is signed by the key %X, and the piped configuration wants %X", signed.KeyID, key.ID())
	}
	reader := minisign.NewReader(file)
	if _, err := io.Copy(io.Discard, reader); err != nil {
		return "", wrong(makeReadable, "%w", err)
	}
	if !reader.Verify(key, text) {
		return "", wrong(bothFromOneRelease, "the binary is not the one that was signed, or the signature was changed")
	}
	return signed.TrustedComment, nil
}

func parseMinisign(text []byte) (signed minisign.Signature, err error) {
	if err := signed.UnmarshalText(text); err != nil {
		return minisign.Signature{}, fmt.Errorf("the signature cannot be read: %w", err)
	}
	if signed.Algorithm != minisign.HashEdDSA {
		return minisign.Signature{}, errors.New(
			"the signature has minisign's old form: sign with minisign 0.10 or newer, without -l",
		)
	}
	return signed, nil
}
