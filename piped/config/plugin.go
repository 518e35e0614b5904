// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"net"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

var sha256Pattern = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Regular expressions for a reference to a plugin in an index: its name, and after @ a version.
const (
	PluginNamePattern    = `^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`
	PluginVersionPattern = `^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$`
)

var (
	pluginName    = regexp.MustCompile(PluginNamePattern)
	pluginVersion = regexp.MustCompile(PluginVersionPattern)
)

// IsPluginName reports whether a plugin of an index may have the name.
func IsPluginName(name string) bool { return pluginName.MatchString(name) }

// IsPluginVersion reports whether a version in an index may have the name.
func IsPluginVersion(version string) bool { return pluginVersion.MatchString(version) }

// PluginReference reads the url of a plugin that is a name in the plugin index, with a version or without; ok is false
// for every other url.
func PluginReference(url string) (name, version string, ok bool) {
	name, version, ok = strings.Cut(url, "@")
	return name, version, IsPluginName(name) && (!ok || IsPluginVersion(version))
}

func checkPluginIndex(d *decoder, address string) {
	u, err := url.Parse(address)
	if err == nil && u.Scheme == "" {
		return // a path
	}
	checkPluginURL(d, "spec.pluginIndex", address, "file", "https")
}

func checkPluginBinary(d *decoder, at string, p Plugin, index string) {
	if _, _, ok := PluginReference(p.URL); !ok {
		checkPluginURL(d, at+".url", p.URL, "file", "https", "oci")
	} else if index == "" {
		d.fieldf(at+".url", "%q is the name of a plugin in an index, and there is none: give spec.pluginIndex, or "+
			"a url with file://, https:// or oci://", shorten(p.URL))
	}
	if p.SHA256 != "" && !sha256Pattern.MatchString(p.SHA256) {
		d.fieldf(at+".sha256", "%q is not a SHA-256 digest: want 64 digits 0-9a-f, as sha256sum prints them",
			shorten(p.SHA256))
	}
	if p.Signature == nil || p.Signature.Policy == SignatureOff {
		return
	}
	at += ".signature"
	checkPluginURL(d, at+".url", p.Signature.URL, "file", "https")
	if !isMinisignKey(p.Signature.PublicKey) && !isPublicKey(p.Signature.PublicKey) {
		d.fieldf(at+".publicKey",
			"%q is not a public key: want the line of minisign's .pub file that begins with RW, or a PUBLIC KEY "+
				"in PEM of ECDSA on P-256 or Ed25519",
			shorten(p.Signature.PublicKey))
	}
}

// checkPluginURL allows http:// to this machine alone: on any other way the program could be exchanged.
func checkPluginURL(d *decoder, field, address string, schemes ...string) {
	if address == "" {
		return
	}
	u, err := url.Parse(address)
	if err != nil || !slices.Contains(schemes, u.Scheme) && (u.Scheme != "http" || !onThisMachine(u.Hostname())) {
		d.fieldf(field, "%q is not allowed here: want %s://", shorten(maskUserinfo(address)),
			strings.Join(schemes[:len(schemes)-1], "://, ")+"://"+" or "+schemes[len(schemes)-1])
		return
	}
	if u.Scheme == "file" && (u.Host != "" && u.Host != "localhost" || !path.IsAbs(u.Path)) {
		d.fieldf(field, "%q is not allowed here: a file URL needs an absolute path and no host: file:///path",
			shorten(maskUserinfo(address)))
	}
	switch {
	case u.Scheme == "file" && strings.HasSuffix(u.Path, "/"):
		d.authorf(field, "%q is a directory: want the path of a file", shorten(address))
	case u.Scheme != "file" && u.Hostname() == "":
		d.authorf(field, "%q names no host", shorten(maskUserinfo(address)))
	}
}

// isMinisignKey looks for the two letters, the key's id and the key of 32 bytes.
func isMinisignKey(key string) bool {
	data, err := base64.StdEncoding.DecodeString(key)
	return err == nil && len(data) == 2+8+32 && string(data[:2]) == "Ed"
}

// isPublicKey looks for a key that checks bundles of Sigstore.
func isPublicKey(text string) bool {
	block, rest := pem.Decode([]byte(strings.TrimSpace(text)))
	if block == nil || block.Type != "PUBLIC KEY" || len(rest) > 0 {
		return false
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return false
	}
	switch key := key.(type) {
	case ed25519.PublicKey:
		return true
	case *ecdsa.PublicKey:
		return key.Curve == elliptic.P256()
	}
	return false
}

func onThisMachine(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
