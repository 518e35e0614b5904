// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"net"
	"net/url"
	"strings"
)

// Redact is an address without what may be a secret: user, password, query and fragment.
func Redact(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(a url that cannot be read)"
	}
	return redact(u)
}

func redact(u *url.URL) string {
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, Opaque: u.Opaque}
	text := shown.String()
	if u.RawQuery != "" {
		text += "?…"
	}
	return text
}

// Remote reports whether the address is one that a [Fetcher] knows.
func Remote(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "oci")
}

// Pinned reports whether the address names its content by a digest.
func Pinned(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "oci" && strings.Contains(u.Path, "@")
}

// loopback reports whether a host, with or without a port, is this machine.
func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
