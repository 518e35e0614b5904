// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"

	"aead.dev/minisign"

	"github.com/pipedeck/pipedeck/piped/config"
)

// maxSignature is the size of a signature in bytes, with long comments.
const maxSignature = 8 << 10

// Verified is what is known of a binary after a check.
type Verified struct {
	// SHA256 of the binary; empty when nobody wanted to know.
	SHA256 string
	// Signed is what the signer says ("trusted comment"); nil without a right signature.
	Signed *string
	// Warning is what is wrong with the signature where the policy is warn; nil for nothing.
	Warning error
}

// Verify checks that the file is what the configuration of the plugin wants: its digest and its signature, which
// it fetches. The error is an [Error], or that of ctx.
func (f *Fetcher) Verify(ctx context.Context, plugin config.Plugin, path string) (v Verified, err error) {
	if plugin.SHA256 != "" {
		if v.SHA256, err = Digest(path); err != nil {
			return v, newError(plugin.Name, plugin.URL, refused("make it readable", "read its binary: %w", err))
		}
		if v.SHA256 != plugin.SHA256 {
			return v, newError(plugin.Name, plugin.URL, mismatch(v.SHA256, plugin.SHA256))
		}
	}
	wanted := plugin.Signature
	if wanted == nil || wanted.Policy == config.SignatureOff {
		return v, nil
	}
	comment, err := f.checkSignature(ctx, plugin, path)
	switch {
	case err == nil:
		v.Signed = &comment
	case ctx.Err() == nil && wanted.Policy == config.SignatureWarn:
		f.options.Logger.Warn("plugin is not signed as it should be", "plugin", plugin.Name, "error", err)
		v.Warning, err = err, nil
	}
	return v, err
}

// SignatureURL is where the signature of a plugin is; empty when nothing says so.
func SignatureURL(plugin config.Plugin) string {
	if plugin.Signature != nil && plugin.Signature.URL != "" {
		return plugin.Signature.URL
	}
	u, err := url.Parse(plugin.URL)
	if err != nil || u.Scheme == "oci" {
		return ""
	}
	u.Path += ".minisig"
	u.RawPath = ""
	return u.String()
}

// checkSignature returns the trusted comment of a right signature.
func (f *Fetcher) checkSignature(ctx context.Context, plugin config.Plugin, path string) (string, error) {
	address := SignatureURL(plugin)
	text, err := f.signature(ctx, plugin.Name, address)
	if err != nil {
		var failed *Error
		if errors.As(err, &failed) {
			failed.Err = fmt.Errorf("its signature cannot be had: %w", failed.Err)
			return "", failed
		}
		return "", err
	}
	comment, err := checkSigned(path, text, plugin.Signature.PublicKey)
	if err != nil {
		return "", newError(plugin.Name, address, err)
	}
	return comment, nil
}

// signature reads the text of a signature, here or from another machine.
func (f *Fetcher) signature(ctx context.Context, plugin, address string) ([]byte, error) {
	u, err := url.Parse(address)
	if err != nil || address == "" {
		return nil, newError(plugin, address, refused("give plugins[].signature.url", "nothing says where it is"))
	}
	path := u.Path
	if u.Scheme != "file" {
		file, err := f.Fetch(ctx, Request{Plugin: plugin, URL: address, MaxSize: maxSignature})
		if err != nil {
			return nil, err
		}
		path = file.Path
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, newError(plugin, address, refused("sign the binary with: minisign -S -m FILE, or correct plugins[].signature.url", "%w", err))
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxSignature))
	if err != nil {
		return nil, newError(plugin, address, refused("make it readable", "%w", err))
	}
	return text, nil
}

const wrongSignature = "get the plugin and its signature from the same release; if both are right, find out who has changed it"

// checkSigned checks a file against a signature. Minisign's old form, over the file and not over its hash, is
// refused: it could be taken for a signature of a hash.
func checkSigned(path string, text []byte, publicKey string) (comment string, err error) {
	var key minisign.PublicKey
	if err := key.UnmarshalText([]byte(publicKey)); err != nil {
		return "", refused("correct plugins[].signature.publicKey", "the public key cannot be read: %w", err)
	}
	signature, err := parseSignature(text)
	if err != nil {
		return "", refused(wrongSignature, "%w", err)
	}
	if signature.KeyID != key.ID() {
		return "", refused("if the signer has a new key, write it to plugins[].signature.publicKey",
			"it is signed by the key %X, and the piped configuration wants %X", signature.KeyID, key.ID())
	}
	file, err := os.Open(path)
	if err != nil {
		return "", refused("make it readable", "%w", err)
	}
	defer file.Close()
	reader := minisign.NewReader(file)
	if _, err := io.Copy(io.Discard, reader); err != nil {
		return "", refused("make it readable", "%w", err)
	}
	if !reader.Verify(key, text) {
		return "", refused(wrongSignature, "the binary is not the one that was signed, or the signature was changed")
	}
	return signature.TrustedComment, nil
}

func parseSignature(text []byte) (signature minisign.Signature, err error) {
	if err := signature.UnmarshalText(text); err != nil {
		return minisign.Signature{}, fmt.Errorf("the signature cannot be read: %w", err)
	}
	if signature.Algorithm != minisign.HashEdDSA {
		return minisign.Signature{}, errors.New("the signature has minisign's old form: sign with minisign 0.10 or newer, without -l")
	}
	return signature, nil
}
