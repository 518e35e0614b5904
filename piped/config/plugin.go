// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"net"
	"net/url"
	"regexp"
	"slices"
)

var sha256Pattern = regexp.MustCompile(`^[0-9a-f]{64}$`)

func checkPluginBinary(d *decoder, at string, p Plugin) {
	checkPluginURL(d, at+".url", p.URL)
	if p.SHA256 != "" && !sha256Pattern.MatchString(p.SHA256) {
		d.fieldf(at+".sha256", "%q is not a SHA-256 digest: want 64 digits 0-9a-f, as sha256sum prints them", shorten(p.SHA256))
	}
}

// checkPluginURL allows http:// to this machine alone: on any other way the program could be exchanged.
func checkPluginURL(d *decoder, field, address string) {
	if address == "" {
		return
	}
	u, err := url.Parse(address)
	if err != nil || !slices.Contains([]string{"file", "https", "oci"}, u.Scheme) && (u.Scheme != "http" || !onThisMachine(u.Hostname())) {
		d.fieldf(field, "%q is not allowed here: want file://, https:// or oci://", shorten(maskUserinfo(address)))
	}
}

func onThisMachine(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
