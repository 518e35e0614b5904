// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package secrets decrypts what applications keep encrypted in Git, and keeps secret values out of logs
// and reports.
//
// A Decrypter opens the ciphertexts of one kind of key: KEY_PAIR, the format of pipectl encrypt, and AGE,
// which is pipedeck's own addition. A Masker knows every secret value of the process and replaces them in
// texts, in one pass; Handler, Reports and Error put it where texts leave the process.
//
// What a Masker guarantees: a value that it holds is replaced wherever it stands within one line, as it is
// and in the forms that programs commonly give it (base64, JSON, URL), even when the line comes in pieces;
// of a piece that ends within a value at most three bytes of the value stay visible. Values of fewer than
// six bytes are not masked, nor is what a program computes from a value in another way. See docs/secrets.md.
//
// Package source decrypts and registers, package agent connects the rest. Mistakes in ciphertexts are
// *CipherError, mistakes in keys *KeyError; neither shows a secret.
package secrets
