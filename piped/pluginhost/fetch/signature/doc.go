// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package signature signs the binaries of plugins and checks their signatures, in two forms: those of minisign, and
// bundles of Sigstore made with a key. Which form a signature has is seen from its text, which form a key has from
// that of the key.
//
// It guarantees that a right signature covers the bytes of the file that was read, and that nothing which it does
// not check is taken for right: bundles with a certificate, attestations, and minisign's old form are refused.
// Transparency logs and times of signing are not looked at, since the key alone decides.
//
// piped/pluginhost/fetch checks with it, and the plugin commands of pipedeck sign with it. Errors are of type [Error].
package signature
