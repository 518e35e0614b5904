// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch/signature"
	"github.com/pipedeck/pipedeck/system/inputfile"
)

// Verified is what is known of a binary after a check.
type Verified struct {
	// SHA256 of the binary; empty when no one wanted to know.
	SHA256 string
	// Signed is what the signer says: minisign's trusted comment, nothing with Sigstore; nil without a right signature.
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

// requires reports whether the plugin starts with a right signature only.
func requires(plugin config.Plugin) bool {
	return plugin.Signature != nil && plugin.Signature.Policy == config.SignatureRequire
}

// SignatureURL is where the signature of a plugin is; empty for a plugin whose registry has it.
func SignatureURL(plugin config.Plugin) string {
	if plugin.Signature != nil && plugin.Signature.URL != "" {
		return plugin.Signature.URL
	}
	u, err := url.Parse(plugin.URL)
	if err != nil || u.Scheme == "oci" {
		return ""
	}
	form := signature.Minisign
	if plugin.Signature != nil {
		if key, err := signature.ParsePublicKey(plugin.Signature.PublicKey); err == nil {
			form = key.Form()
		}
	}
	u.Path += form.Extension()
	u.RawPath = ""
	return u.String()
}

// checkSignature returns the trusted comment of a right signature.
func (f *Fetcher) checkSignature(ctx context.Context, plugin config.Plugin, path string) (comment string, err error) {
	address := SignatureURL(plugin)
	key, err := signature.ParsePublicKey(plugin.Signature.PublicKey)
	if err != nil {
		return "", newError(plugin.Name, address, ofSignature(err))
	}
	if address == "" {
		if comment, err = f.checkReferrers(ctx, plugin, path, key); err != nil && ctx.Err() == nil {
			err = newError(plugin.Name, plugin.URL, err)
		}
		return comment, err
	}
	text, err := f.signature(ctx, plugin, address)
	if err != nil {
		var failed *Error
		if errors.As(err, &failed) {
			failed.Err = fmt.Errorf("its signature cannot be had: %w", failed.Err)
			return "", failed
		}
		return "", err
	}
	if comment, err = signature.Verify(path, text, key); err != nil {
		return "", newError(plugin.Name, address, ofSignature(err))
	}
	return comment, nil
}

// signature reads the text of a signature, here or from another machine.
func (f *Fetcher) signature(ctx context.Context, plugin config.Plugin, address string) ([]byte, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, newError(plugin.Name, address, refused("correct plugins[].signature.url", "the url cannot be read"))
	}
	path := u.Path
	if u.Scheme != "file" {
		file, err := f.Fetch(
			ctx, Request{Plugin: plugin.Name, URL: address, MaxSize: signature.MaxSize, Strict: requires(plugin)},
		)
		if err != nil {
			return nil, err
		}
		path = file.Path
	}
	file, err := inputfile.Open(path)
	if err != nil {
		return nil, newError(
			plugin.Name, address,
			refused("sign the binary with: pipedeck plugin sign FILE, or correct plugins[].signature.url", "%w", err),
		)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, signature.MaxSize+1))
	if err != nil {
		return nil, newError(plugin.Name, address, refused("make it readable", "%w", err))
	}
	return text, nil
}
